"""Training steps of ADDAX and of a cross-encoder on equal random texts and equal transformers.

On a CPU also beside the transformers library's own way through the same network, and in 32 bits.
"""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor, nn

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from matchwork.encode import TransformerConfig, TransformerEncoder
from matchwork.kernels.transformer import ragged_forward
from matchwork.models import ADDAX, AddaxConfig, CrossEncoder, CrossEncoderConfig, MatchModel
from matchwork.text import PairBatch, Sequences

PAIRS, QUERY, DOCUMENT, VOCABULARY = 128, 24, 96, 30_000
CPU_PAIRS, TINY = 32, (1, 16)
SIZES = {"MiniLM-L6": (6, 384), "BERT-base": (12, 768)}  # layers, width
_CLS, _SEP = (2,), (3,)


def run(quick: bool) -> Figures:
    """On the CPU, at MiniLM's size: the models, then one of them learning in other ways."""
    sizes, pairs, repeats = (TINY, 2, 1) if quick else (SIZES["MiniLM-L6"], CPU_PAIRS, 7)
    figures = _figures("MiniLM-L6", sizes, pairs, "cpu", repeats)
    batch, model = _batch(pairs, "cpu"), CrossEncoder(CrossEncoderConfig(), _encoder(sizes))

    def loss() -> Tensor:
        return _loss(model, batch)

    def by_library() -> None:
        with patch.object(ragged_forward, "can_run", return_value=False):
            short()

    short, long = _step(model, loss, "cpu"), _step(model, loss, "cpu", torch.float32)
    ours, theirs, in_full = medians(repeats, short, by_library, long)
    for name, peer, spent in (("by hand", "by the library", theirs), ("bf16", "32 bits", in_full)):
        figures[f"cross-encoder trained, {name}"] = Figure(
            value=pairs / ours, unit="pairs/s", peer=pairs / spent, peer_name=peer
        )
    return figures


def on_gpu(device: str, quick: bool) -> Figures:
    """For either size: pairs a second, and what is not the transformer's."""
    figures: Figures = {}
    for name, sizes in SIZES.items():
        pairs, repeats = (2, 1) if quick else (PAIRS, 7)
        figures |= _figures(name, TINY if quick else sizes, pairs, device, repeats)
    return figures


def _figures(name: str, sizes: tuple[int, int], pairs: int, device: str, repeats: int) -> Figures:
    batch = _batch(pairs, device)
    addax = ADDAX(AddaxConfig(scale_scores=True, reduction="mean"), _encoder(sizes)).to(device)
    cross = CrossEncoder(CrossEncoderConfig(), _encoder(sizes)).to(device)

    def encoded() -> Tensor:
        sides = addax.encode(batch.query), addax.encode(batch.document)
        return sides[0].vectors.float().mean() + sides[1].vectors.float().mean()

    ours, theirs, inside = medians(
        repeats,
        _step(addax, lambda: _loss(addax, batch), device),
        _step(cross, lambda: _loss(cross, batch), device),
        _step(addax, encoded, device),
    )
    return {
        f"ADDAX trained, {name}": Figure(
            value=pairs / ours, unit="pairs/s", peer=pairs / theirs, peer_name="cross-encoder"
        ),
        f"outside the transformer, {name}": Figure(
            value=1e3 * max(ours - inside, 1e-6),
            unit="ms",
            peer=1e3 * ours,
            peer_name="whole step",
            target=Target("ratio", "most", 0.25),
        ),
    }


def _batch(pairs: int, device: str) -> PairBatch:
    torch.manual_seed(0)
    return PairBatch(_texts(pairs, QUERY, device), _texts(pairs, DOCUMENT, device))


def _encoder(sizes: tuple[int, int]) -> TransformerEncoder:
    layers, width = sizes
    architecture = {
        "model_type": "bert",
        "vocab_size": VOCABULARY,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_attention_heads": max(1, width // 64) * (2 if width == 384 else 1),
    }
    return TransformerEncoder(
        TransformerConfig(
            architecture=architecture,
            vocab_size=VOCABULARY,
            before=_CLS,
            between=_SEP,
            after=_SEP,
            second_type=1,
            trainable=True,
        )
    )


def _texts(num: int, longest: int, device: str) -> Sequences:
    mask = torch.arange(longest) < torch.randint(longest // 2, longest + 1, (num, 1))
    ids = torch.randint(4, VOCABULARY, (num, longest))
    return Sequences(ids, mask).to(device)


def _loss(model: MatchModel, batch: PairBatch) -> Tensor:
    output = model(batch)
    loss: Tensor = output.scores.float().mean()
    return loss if output.penalty is None else loss + output.penalty.float().mean()


def _step(
    model: nn.Module,
    loss: Callable[[], Tensor],
    device: str,
    precision: torch.dtype = torch.bfloat16,
) -> Callable[[], None]:
    """Forward in few bits, backward, AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-9, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(device, precision, enabled=precision != torch.float32):
            value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()

    return step

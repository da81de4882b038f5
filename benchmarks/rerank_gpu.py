"""Training steps of ADDAX and of a cross-encoder on equal random texts and equal transformers."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from matchwork.encode import TransformerConfig, TransformerEncoder
from matchwork.models import ADDAX, AddaxConfig, CrossEncoder, CrossEncoderConfig, MatchModel
from matchwork.text import PairBatch, Sequences

PAIRS, QUERY, DOCUMENT, VOCABULARY = 128, 24, 96, 30_000
SIZES = {"MiniLM-L6": (6, 384), "BERT-base": (12, 768)}  # layers, width
_CLS, _SEP = (2,), (3,)


def on_gpu(device: str, quick: bool) -> Figures:
    """For either size: pairs a second, and what is not the transformer's."""
    figures: Figures = {}
    for name, (layers, width) in SIZES.items():
        sizes = (1, 16) if quick else (layers, width)
        figures |= _figures(name, sizes, 2 if quick else PAIRS, device, 1 if quick else 7)
    return figures


def _figures(name: str, sizes: tuple[int, int], pairs: int, device: str, repeats: int) -> Figures:
    torch.manual_seed(0)
    batch = PairBatch(_texts(pairs, QUERY, device), _texts(pairs, DOCUMENT, device))
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


def _step(model: nn.Module, loss: Callable[[], Tensor], device: str) -> Callable[[], None]:
    """Forward in bf16, backward, AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-9)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16):
            value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()

    return step

"""HCAN beside the same model as one would first write it, on two threads; share of its BiLSTMs."""

import sys
from collections.abc import Callable
from pathlib import Path

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch import Tensor, nn

from benchmarks.as_file import CORES, run_as_file, threads
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.hcan_plain import PlainHCAN
from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import HCAN, HCANConfig

BATCH, QUERY, DOCUMENT = 64, 20, 60
DIM, FILTERS = 300, 256
SHORTEST_QUERY, SHORTEST_DOCUMENT = 3, 10
TARGET = Target("ratio", "least", 1.4)
PASSES = ("forward", "training step")
GPU_PURPOSE = "HCAN on a GPU, beside the same model as one would first write it."
Job = Callable[[], object]


def run(quick: bool) -> Figures:
    """Full and ragged texts, beside packed and padded LSTMs of torch."""
    with threads(1 if quick else CORES):
        return on("cpu", quick)


def on(device: str, quick: bool) -> Figures:
    """All figures of a device."""
    repeats = 1 if quick else 5
    full, ragged = (Work(device, quick, ragged) for ragged in (False, True))
    size = f"{QUERY} x {DOCUMENT}"
    figures = _beside(full, "packed", repeats, size, TARGET)
    figures |= _beside(full, "padded", repeats, f"{size}, padded peer", None)
    lengths = f"{SHORTEST_QUERY}-{QUERY} x {SHORTEST_DOCUMENT}-{DOCUMENT}"
    figures |= _beside(ragged, "packed", repeats, lengths, None)
    return figures | _shares(full, repeats)


class Work:
    """A batch of texts, a model, and the jobs that are timed on them."""

    def __init__(self, device: str, quick: bool, ragged: bool) -> None:
        torch.manual_seed(0)
        batch, dim, filters = (2, 6, 4) if quick else (BATCH, DIM, FILTERS)
        words = WordEmbedding(WordEmbeddingConfig(vocab_size=2, dim=dim))
        config = HCANConfig(preset="code", encoder="deep", filters=filters, query_length=QUERY)
        self.model = HCAN(config, words).to(device)
        query, document = (SHORTEST_QUERY, SHORTEST_DOCUMENT) if ragged else (QUERY, DOCUMENT)
        self.query = _texts(batch, query, QUERY, dim, device)
        self.document = _texts(batch, document, DOCUMENT, dim, device)

    def scores(self) -> Tensor:
        """Ours."""
        return self.model.match(self.query, self.document).scores

    def jobs(self) -> tuple[Job, Job]:
        """Forward, and forward with all gradients."""
        return _pair(self.scores, self.model)

    def peer_jobs(self, packed: bool) -> tuple[Job, Job]:
        """The same by the plain model, after a look that it gives the same."""
        peer = PlainHCAN(self.model, packed)
        with torch.no_grad():
            torch.testing.assert_close(
                self.scores(), peer(self.query, self.document), rtol=1e-3, atol=1e-3
            )
        return _pair(lambda: peer(self.query, self.document), peer)

    def recurrence_jobs(self) -> tuple[Job, Job]:
        """The steps of the BiLSTMs with the products of their input, without all before it."""
        semantic, masks = self.model.semantic, (self.query.mask, self.document.mask)
        with torch.no_grad():
            query, document = (
                torch.stack(self.model.levels(text)[1:]) for text in (self.query, self.document)
            )
            attention = semantic.attend(query, document, *masks)
        sides = (query.requires_grad_(), document.requires_grad_())
        return _pair(lambda: semantic(*sides, *masks, attention), semantic)


def _texts(batch: int, shortest: int, longest: int, dim: int, device: str) -> Encoded:
    lengths = torch.randint(shortest, longest + 1, (batch,))
    lengths[0] = longest
    mask = torch.arange(longest) < lengths.unsqueeze(1)
    vectors = torch.randn(batch, longest, dim) * mask.unsqueeze(-1)
    return Encoded(vectors.to(device), mask.to(device))


def _pair(made: Callable[[], Tensor], model: nn.Module) -> tuple[Job, Job]:
    def forward() -> None:
        with torch.no_grad():
            made()
        _wait()

    def both() -> None:
        model.zero_grad()
        made().sum().backward()  # type: ignore[no-untyped-call]
        _wait()

    return forward, both


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _beside(work: Work, peer: str, repeats: int, name: str, target: Target | None) -> Figures:
    figures: Figures = {}
    batch = len(work.query)
    for mine, other, what in zip(
        work.jobs(), work.peer_jobs(peer == "packed"), PASSES, strict=True
    ):
        seconds, slow = medians(repeats, mine, other)
        figures[f"{what}, {name}"] = Figure(
            value=batch / seconds,
            unit="pairs/s",
            peer=batch / slow,
            peer_name=f"H concatenated, nn.LSTM, {peer}",
            target=target,
        )
    return figures


def _shares(work: Work, repeats: int) -> Figures:
    figures: Figures = {}
    for part, whole, what in zip(work.recurrence_jobs(), work.jobs(), PASSES, strict=True):
        own, all_of_it = medians(repeats, part, whole)
        figures[f"BiLSTMs in a {what}"] = Figure(
            value=1e3 * own, unit="ms", peer=1e3 * all_of_it, peer_name=f"whole {what}"
        )
    return figures


def main() -> None:
    """`python benchmarks/hcan.py`: as a file of its own, it has options of its own."""
    purposes = str(__doc__), GPU_PURPOSE
    run_as_file("hcan", run, lambda quick: on("cuda", quick), purposes)


if __name__ == "__main__":
    main()

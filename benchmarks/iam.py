"""IAM: stage A on whole rows beside packed ones, matching, room of tf-idf terms."""

import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch import Tensor, nn

from benchmarks import child
from benchmarks.as_file import run_as_file
from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import IAM, IAMConfig
from matchwork.models.iam.language_model import LanguageModel
from matchwork.models.iam.two_way import TwoWayStack, with_end

BATCH, DIM, VOCABULARY, CLASSES = 50, 100, 20_000, 5_000
ANSWERS = {"texts of similar length": (26, 32), "texts of any length": (5, 60)}
QUESTIONS = (5, 15)
TERM_WORDS = (50_000, 400_000)
GPU_PURPOSE = "IAM on a GPU: stage A on packed rows beside whole ones, and matching."
PASSES = ("forward", "training step")
Job = Callable[[], object]


class Sizes(NamedTuple):
    """How much is measured."""

    batch: int = BATCH
    units: int = 100
    vocabulary: int = VOCABULARY
    classes: int = CLASSES
    repeats: int = 5


TINY = Sizes(batch=3, units=4, vocabulary=30, classes=10, repeats=1)


def run(quick: bool) -> Figures:
    """All figures of the CPU; peaks are of processes of their own."""
    return on("cpu", quick) | _rooms((500, 1_000) if quick else TERM_WORDS)


def on(device: str, quick: bool) -> Figures:
    """Speed on a device."""
    sizes = TINY if quick else Sizes()
    figures: Figures = {}
    for name, lengths in ANSWERS.items():
        figures |= _stage(StageWork(device, sizes, lengths), name, sizes.repeats)
    return figures | _matching(MatchWork(device, sizes), sizes.repeats)


class OtherStack(TwoWayStack):
    """The same stack, packed where ours is not: ours packs on a GPU only."""

    def _packs(self, vectors: Tensor) -> bool:
        return not super()._packs(vectors)


class StageWork:
    """A batch of answers, the language model that learns from it, and its other form."""

    def __init__(self, device: str, sizes: Sizes, lengths: tuple[int, int]) -> None:
        torch.manual_seed(0)
        self.text = _texts(device, sizes, *lengths)
        self.ours: LanguageModel = _model(device, sizes).stages()[1].module.to(device)  # type: ignore[assignment]
        counts = torch.ones(sizes.classes + 2, dtype=torch.int64)
        self.ours.set_words(torch.arange(sizes.classes), counts)
        self.ours.requires_grad_(True)
        self.other = deepcopy(self.ours)
        stack = self.ours.reader.stack
        self.other.reader.stack = OtherStack(DIM, sizes.units, dropout=stack.dropout.p)
        self.other.reader.stack.load_state_dict(stack.state_dict())
        self.other.to(device)
        self._check()

    @property
    def num_words(self) -> int:
        """Of the batch."""
        return int(self.text.mask.sum())

    def jobs(self, module: LanguageModel) -> dict[str, tuple[Job, Job]]:
        """The stack alone, and the stage with its softmax over words."""
        ended = with_end(self.text, module.reader.end.detach())
        stack = module.reader.stack
        return {
            "stack": _pair(lambda: stack(ended.vectors, ended.mask).mean(), stack),
            "stage A": _pair(lambda: module(self.text).total, module),
        }

    def _check(self) -> None:
        with torch.no_grad():
            found, expected = (module.eval()(self.text).total for module in (self.ours, self.other))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        self.ours.train()
        self.other.train()


class MatchWork:
    """A batch of pairs, and the model that matches them."""

    def __init__(self, device: str, sizes: Sizes) -> None:
        torch.manual_seed(0)
        self.model = _model(device, sizes)
        self.query = _texts(device, sizes, *QUESTIONS)
        self.document = _texts(device, sizes, *ANSWERS["texts of any length"])

    def jobs(self) -> tuple[Job, Job]:
        """All of it; the squared norm of all weights is a part of training."""

        def loss() -> Tensor:
            output = self.model.match(self.query, self.document)
            return output.scores.sum() + (0.0 if output.penalty is None else output.penalty.mean())

        return _pair(loss, self.model)

    def reading_jobs(self) -> tuple[Job, Job]:
        """Both texts read by frozen LSTMs, the question once more by trained ones."""

        def read_all() -> Tensor:
            model, ended = self.model, with_end(self.query, self.model.query_reader.end)
            frozen = model.query_reader(self.query), model.document_reader(self.document)
            aware: Tensor = model.aware(ended.vectors, ended.mask)
            return aware.sum() + sum(text.vectors.sum() for text in frozen)

        return _pair(read_all, self.model)


def _model(device: str, sizes: Sizes) -> IAM:
    words = WordEmbedding(WordEmbeddingConfig(vocab_size=sizes.vocabulary, dim=DIM))
    return IAM(IAMConfig(units=sizes.units), words).to(device)


def _texts(device: str, sizes: Sizes, shortest: int, longest: int) -> Encoded:
    lengths = torch.randint(shortest, longest + 1, (sizes.batch,))
    lengths[0] = longest
    mask = torch.arange(longest) < lengths.unsqueeze(1)
    vectors = torch.randn(sizes.batch, longest, DIM) * mask.unsqueeze(-1)
    ids = torch.randint(sizes.vocabulary, mask.shape)
    return Encoded(vectors.to(device), mask.to(device), ids.to(device))


def _pair(made: Callable[[], Tensor], model: nn.Module) -> tuple[Job, Job]:
    def forward() -> None:
        with torch.no_grad():
            made()
        _wait()

    def both() -> None:
        model.zero_grad()
        made().backward()  # type: ignore[no-untyped-call]
        _wait()

    return forward, both


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _stage(work: StageWork, name: str, repeats: int) -> Figures:
    figures: Figures = {}
    on_gpu = work.text.vectors.is_cuda
    ours, others = work.jobs(work.ours), work.jobs(work.other)
    for part in ours:
        for mine, other, what in zip(ours[part], others[part], PASSES, strict=True):
            seconds, slow = medians(repeats, mine, other)
            figures[f"{part}, {what}, {name}"] = Figure(
                value=work.num_words / seconds,
                unit="words/s",
                peer=work.num_words / slow,
                peer_name="without packing" if on_gpu else "packed",
            )
    return figures


def _matching(work: MatchWork, repeats: int) -> Figures:
    figures: Figures = {}
    for whole, reading, what in zip(work.jobs(), work.reading_jobs(), PASSES, strict=True):
        seconds, floor = medians(repeats, whole, reading)
        figures[f"matching, {what}"] = Figure(
            value=len(work.query) / seconds,
            unit="pairs/s",
            peer=len(work.query) / floor,
            peer_name="its LSTMs alone",
        )
    return figures


def _rooms(numbers: tuple[int, int]) -> Figures:
    """Peaks of terms for few and for many words, and how the second grows from the first."""
    peaks = [child.python("-m", "benchmarks.iam_terms", str(n)).peak_mib for n in (2, *numbers)]
    figures: Figures = {}
    for number, peak in zip(numbers, peaks[1:], strict=True):
        figures[f"tf-idf terms, peak, {number:,} words"] = Figure(
            value=peak,
            unit="MiB",
            peer=4 * number**2 / 2**20,
            peer_name="M as a square would be",
        )
    few, many = (max(peak - peaks[0], 1.0) for peak in peaks[1:])
    figures[f"tf-idf terms above those of 2 words, {numbers[1]:,} words"] = Figure(
        value=many,
        unit="MiB",
        peer=few,
        peer_name=f"{numbers[0]:,} words",
        target=Target("ratio", "most", 1.25 * numbers[1] / numbers[0]),
    )
    return figures


def main() -> None:
    """`python benchmarks/iam.py`: as a file of its own, it has options of its own."""
    purposes = str(__doc__), GPU_PURPOSE
    run_as_file("iam", run, lambda quick: on("cuda", quick), purposes)


if __name__ == "__main__":
    main()

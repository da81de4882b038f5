"""The work of `matchwork analyse`; imported only by it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from matchwork.analyse import (
    Analysis,
    PatternTagger,
    Smoothing,
    matching_matrices,
    out_of_vocabulary,
    overlap,
    smoothing,
)
from matchwork.cli import show
from matchwork.cli.progress import scoring
from matchwork.cli.scorers import open_matcher
from matchwork.data import Split
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import Evaluation, MeasuredSplit
from matchwork.evaluate.baseline import BASELINE
from matchwork.evaluate.benchmark import Benchmark
from matchwork.matcher import Matcher
from matchwork.rank.candidate_bm25 import is_bm25

NUM_UNTRAINED = 3  # copies with fresh weights beside each trained matcher
Systems: TypeAlias = Mapping[str, Matcher | None]
"""Name -> matcher, or None for BM25; the first is MODEL."""


@dataclass(frozen=True)
class Wanted:
    """Which analyses are asked for; none by name means all that apply."""

    oov: bool
    smoothing: bool
    overlap: bool

    def check(self, model: str) -> None:
        """Refuse what BM25 cannot answer, before any work."""
        if is_bm25(model) and self.oov:
            raise ConfigError(
                "--oov asks the vocabulary of MODEL which words it knows, and bm25 has none; "
                "name a matcher first and bm25 with --against"
            )
        if is_bm25(model) and self.smoothing:
            raise ConfigError(
                "--smoothing compares matching matrices, and bm25 has none; name a matcher"
            )

    def resolve(self, model: Matcher | None) -> "Wanted":
        """The analyses to make of MODEL."""
        if self.oov or self.smoothing or self.overlap:
            return self
        has_matrices = model is not None and len(matching_matrices(model)) > 1
        return Wanted(oov=model is not None, smoothing=has_matrices, overlap=True)


def run_analysis(
    model: str, against: str | None, benchmark: Benchmark, asked: Wanted, *, stem: bool, seed: int
) -> Analysis:
    """Rank once with every system, then analyse."""
    asked.check(model)
    with show.working(f"reading {benchmark.dataset}"):
        dataset, measured = benchmark.read()
    systems = _open([model] if against is None else [model, against])
    first = next(iter(systems.values()))
    wanted = asked.resolve(first)
    tagger = PatternTagger() if wanted.oov else None  # before the long work: it may be missing
    matrices = _smoothing(systems, benchmark, measured.split, seed) if wanted.smoothing else {}
    found = Analysis(dataset.name, benchmark.split, tuple(systems), smoothing=matrices)
    if not (wanted.oov or wanted.overlap):
        return found
    split = measured.split
    evaluations = {name: _evaluate(measured, each) for name, each in systems.items()}
    found = replace(found, protocol=measured.protocol)
    with show.working("counting words"):
        if first is not None and tagger is not None:
            classes = out_of_vocabulary(
                split, evaluations, first.tokenizer, tagger=tagger, seed=seed
            )
            found = replace(found, out_of_vocabulary=classes)
        if wanted.overlap:
            found = replace(found, overlap=overlap(split, evaluations, stem=stem, seed=seed))
    return found


def _open(names: list[str]) -> Systems:
    """Every system under its own name; equal names are told apart by a letter."""
    opened = [None if is_bm25(name) else open_matcher(name) for name in names]
    labels = [BASELINE if one is None else one.name for one in opened]
    if len(set(labels)) < len(labels):
        labels = [f"{label} {letter}" for label, letter in zip(labels, "AB", strict=True)]
        for label, name in zip(labels, names, strict=True):
            show.note(f"{label}: {name}")
    return dict(zip(labels, opened, strict=True))


def _evaluate(measured: MeasuredSplit, matcher: Matcher | None) -> Evaluation:
    with scoring() as progress:
        if matcher is None:
            return measured.evaluate(measured.bm25_run(progress))
        return measured.evaluate(measured.run(matcher, progress))


def _smoothing(
    systems: Systems, benchmark: Benchmark, split: Split, seed: int
) -> dict[str, Smoothing]:
    splits = _with_training(benchmark, split)
    seeds = range(seed, seed + NUM_UNTRAINED)
    (model, _), *_ = systems.items()
    found = {}
    for name, matcher in systems.items():
        if name != model and (matcher is None or len(matching_matrices(matcher)) < 2):
            show.note(f"{name} has no matching matrices to compare; smoothing leaves it out")
        elif matcher is not None:
            with scoring() as progress:
                found[name] = smoothing(matcher, splits, seeds=seeds, progress=progress)
    return found


def _with_training(benchmark: Benchmark, split: Split) -> list[Split]:
    """The training split first, where there is one."""
    if benchmark.split == "train":
        return [split]
    try:
        _, training = replace(benchmark, split="train").read()
    except DataError as error:
        show.note(f"smoothing is measured on {benchmark.split} alone: {error}")
        return [split]
    return [training.split, split]

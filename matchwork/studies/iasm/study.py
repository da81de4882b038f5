"""The study as one call: rank with every system, then analyse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from matchwork.data import Split
from matchwork.errors import ConfigError
from matchwork.evaluate.measured_split import BASELINE, MeasuredSplit
from matchwork.matcher import Matcher
from matchwork.studies.iasm.analysis import Analysis
from matchwork.studies.iasm.out_of_vocabulary import out_of_vocabulary
from matchwork.studies.iasm.overlap import overlap
from matchwork.studies.iasm.smoothing import Smoothing, matching_matrices, smoothing
from matchwork.studies.iasm.tagging import PatternTagger
from matchwork.types import Progress

NUM_UNTRAINED = 3  # copies with fresh weights beside each trained matcher
MEASURES = ("P@1", "RR", "AP")
Systems: TypeAlias = Mapping[str, Matcher | None]
"""Name -> matcher, or None for BM25; the first is the one in question."""


@dataclass(frozen=True)
class Parts:
    """Which analyses to make; with all three False, every one that applies."""

    oov: bool = False
    smoothing: bool = False
    overlap: bool = False

    def check(self, model: Matcher | None) -> None:
        """Refuse what BM25 (None) has no answer to."""
        if model is None and self.oov:
            raise ConfigError(
                "--oov asks the vocabulary of MODEL which words it knows, and bm25 has none; "
                "name a matcher first and bm25 with --against"
            )
        if model is None and self.smoothing:
            raise ConfigError(
                "--smoothing compares matching matrices, and bm25 has none; name a matcher"
            )

    def resolve(self, model: Matcher | None) -> "Parts":
        """Return the analyses to make of a model."""
        if self.oov or self.smoothing or self.overlap:
            return self
        return Parts(oov=model is not None, smoothing=has_matrices(model), overlap=True)


def has_matrices(model: Matcher | None) -> bool:
    """Return whether a model has several matching matrices to compare."""
    return model is not None and len(matching_matrices(model)) > 1


def named(models: Sequence[Matcher | None]) -> dict[str, Matcher | None]:
    """Return one or two systems (None for BM25) by name; equal names get a letter each."""
    names = [BASELINE if model is None else model.name for model in models]
    if len(set(names)) < len(names):
        names = [f"{name} {letter}" for name, letter in zip(names, "AB", strict=True)]
    return dict(zip(names, models, strict=True))


def analyse(
    dataset: str,
    measured: MeasuredSplit,
    systems: Systems,
    parts: Parts | None = None,
    *,
    training: Split | None = None,
    stem: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Analysis:
    """Rank a split with every system and analyse the rankings.

    Args:
        dataset: Name of the data set.
        measured: The split, with `MEASURES`.
        systems: One or two systems; the first is the one in question.
        parts: Analyses to make.
        training: Smoothing is measured on it as well.
        stem: Count shared words by their stems.
        seed: Of intervals, tests and untrained weights.
        progress: Called while pairs are scored.
    """
    model = next(iter(systems.values()))
    parts = parts or Parts()
    parts.check(model)
    parts, split = parts.resolve(model), measured.split
    tagger = PatternTagger() if parts.oov else None  # early: the package may be missing
    made: dict[str, Any] = {}
    if parts.smoothing:
        splits = [split] if training is None else [training, split]
        made["smoothing"] = _smoothing(systems, splits, seed, progress)
    if parts.oov or parts.overlap:
        made["protocol"] = measured.protocol
        evaluations = {
            name: measured.evaluate(
                measured.bm25_run(progress) if one is None else measured.run(one, progress)
            )
            for name, one in systems.items()
        }
        if model is not None and tagger is not None:
            made["out_of_vocabulary"] = out_of_vocabulary(
                split, evaluations, model.tokenizer, tagger=tagger, seed=seed
            )
        if parts.overlap:
            made["overlap"] = overlap(split, evaluations, stem=stem, seed=seed)
    return Analysis(dataset, split.name, tuple(systems), **made)


def _smoothing(
    systems: Systems, splits: Sequence[Split], seed: int, progress: Progress | None
) -> dict[str, Smoothing]:
    """Measure the systems with matrices; the first must have some."""
    seeds = range(seed, seed + NUM_UNTRAINED)
    first = next(iter(systems))
    return {
        name: smoothing(model, splits, seeds=seeds, progress=progress)
        for name, model in systems.items()
        if model is not None and (name == first or has_matrices(model))
    }

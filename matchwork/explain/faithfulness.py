"""Whether explanations name the words that matter: take these away, or put them in first.

Deletion removes the document's words from the most to the least important, insertion puts them
together in that order (RISE, Petsiuk et al., BMVC 2018, arXiv:1806.07421). A
faithful explanation makes the score fall, or rise, sooner than words in random order do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import bootstrap_interval, permutation_test
from matchwork.evaluate.sample import Sample
from matchwork.explain.explanation import Values, explain
from matchwork.explain.spans import ValuedWord, document_words
from matchwork.ordering import order
from matchwork.types import TextPair

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher

Kind: TypeAlias = Literal["deletion", "insertion"]
KINDS: tuple[Kind, Kind] = ("deletion", "insertion")
STEPS = 10
"""Tenths of the words: what makes curves of short and long documents one curve."""


@dataclass(frozen=True, eq=False)
class FaithfulnessCurve:
    """Scores while words are removed or put in; rows are pairs, columns shares of the words.

    Counted from the score of the whole document, in standard deviations of such scores. `random`
    is the mean over the draws. One word always stays: the score of an empty document says little.
    """

    kind: Kind
    explained: Values
    random: Values

    @cached_property
    def areas(self) -> tuple[Sample, Sample]:
        """The area under either curve of every pair: of the explanation, of random order."""
        return Sample.of(_area(self.explained)), Sample.of(_area(self.random))

    @cached_property
    def gains(self) -> Sample:
        """By how much the explanation beats random order, pair by pair; above 0 is faithful."""
        explained, random = (sample.gain[:, 0] for sample in self.areas)
        return Sample.of(random - explained if self.kind == "deletion" else explained - random)

    def to_json(self, seed: int) -> dict[str, Any]:
        """Areas, their difference with interval and p, and both mean curves."""
        explained, random = self.areas
        return {
            "area": explained.value,
            "random_area": random.value,
            "gain": self.gains.value,
            "ci": list(bootstrap_interval(self.gains, seed=seed)),
            "p": permutation_test(explained, random, seed=seed),
            "curve": self.explained.mean(axis=0).tolist(),
            "random_curve": self.random.mean(axis=0).tolist(),
        }


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Both curves of one matcher; `evidence` says which of its numbers were followed."""

    model: str
    evidence: str
    num_draws: int
    seed: int
    curves: tuple[FaithfulnessCurve, ...]

    @property
    def num_pairs(self) -> int:
        """How many pairs were explained."""
        return len(self.curves[0].explained)

    @property
    def shares(self) -> Values:
        """The share of the words that is removed or put in at each step, but for one word."""
        return np.linspace(0, 1, STEPS + 1)

    @cached_property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """Kind -> areas, gain, interval, p and curves."""
        return {curve.kind: curve.to_json(self.seed) for curve in self.curves}

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "model": self.model,
            "evidence": self.evidence,
            "num_pairs": self.num_pairs,
            "num_draws": self.num_draws,
            "seed": self.seed,
            "shares": self.shares.tolist(),
            **self.outcomes,
        }


def faithfulness(
    matcher: "Matcher",
    pairs: Sequence[TextPair],
    *,
    num_draws: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Faithfulness:
    """Measure the explanations of these pairs, whose documents have two words or more.

    `num_draws` random orders of the words stand against each explanation. `progress` hears how
    many texts were scored.
    """
    if num_draws < 1:
        raise ConfigError(f"num_draws must be at least 1, got {num_draws}")
    random = np.random.default_rng(seed)
    evidence, probes, texts = "", [], list[TextPair]()
    for query, document in pairs:
        explanation = explain(matcher, query, document)
        words = document_words(explanation)
        found = explanation.word_values("document")
        if found is not None and len(words) > 1:
            evidence = evidence or found[0]
            probes.append(_Probe(query, document, words, num_draws, random))
            texts += probes[-1].texts()
    if len(probes) < 2:
        raise DataError(
            f"of {len(pairs)} pairs, {len(probes)} have a document of two words or more and "
            "evidence to order them by; give more pairs"
        )
    table = matcher.score(texts, progress).reshape(len(probes), 1 + num_draws, 2, STEPS + 1)
    whole = table[:, 0, 0, 0]  # nothing was removed
    table = (table - whole[:, None, None, None]) / (float(whole.std()) or 1.0)
    curves = tuple(
        FaithfulnessCurve(kind, table[:, 0, place], table[:, 1:, place].mean(axis=1))
        for place, kind in enumerate(KINDS)
    )
    return Faithfulness(matcher.name, evidence, num_draws, seed, curves)


class _Probe:
    """One pair, and the orders in which the words of its document go or come."""

    def __init__(
        self,
        query: str,
        document: str,
        words: list[ValuedWord],
        num_draws: int,
        random: np.random.Generator,
    ) -> None:
        self.query, self.words = query, words
        # What was too long to be read must not move up when words go.
        self.document = document[: words[-1].end]
        draws = [random.permutation(len(words)) for _ in range(1 + num_draws)]
        # Words of equal value in random order: that of the text would help or harm for nothing.
        values = np.array([word.value for word in words])
        draws[0] = draws[0][order(values[draws[0]])]
        self.orders = [draw.tolist() for draw in draws]

    def texts(self) -> Iterator[TextPair]:
        """The document at every step: for each order, deletion and then insertion."""
        steps = np.linspace(0, len(self.words) - 1, STEPS + 1).round().astype(int).tolist()
        for ranking in self.orders:
            for step in steps:
                yield self.query, self._without(ranking[:step])
            for step in steps:
                yield self.query, self._without(ranking[step + 1 :])

    def _without(self, gone: list[int]) -> str:
        """The document less some words; what stands between words stays."""
        parts, end = [], 0
        for word in (self.words[place] for place in sorted(gone)):
            parts.append(self.document[end : word.start])
            end = word.end
        return "".join([*parts, self.document[end:]])


def _area(curves: Values) -> Values:
    """Of every row, over shares from 0 to 1."""
    return np.asarray((curves[:, :-1] + curves[:, 1:]).mean(axis=1) / 2, dtype=np.float64)

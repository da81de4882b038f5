"""Faithfulness: whether explanations name the words that the score depends on.

Deletion removes the document's words from the most to the least important, insertion adds them
in that order (RISE, Petsiuk et al., BMVC 2018, arXiv:1806.07421). With a faithful explanation
the score falls, or rises, sooner than with the words in random order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import bootstrap_interval, permutation_test
from matchwork.evaluate.sample import Sample
from matchwork.explain.pair import explain
from matchwork.explain.spans import ValuedWord
from matchwork.ordering import order
from matchwork.report.altair import Chart, alt
from matchwork.report.highlight import Values
from matchwork.report.line_charts import LinePoint, Titles, curves_with_bands
from matchwork.report.numbers import Cell, interval, p_value, signed
from matchwork.report.page import Table
from matchwork.types import TextPair

if TYPE_CHECKING:
    from matchwork.data import Split
    from matchwork.matcher.matcher import Matcher

Kind: TypeAlias = Literal["deletion", "insertion"]
KINDS: tuple[Kind, Kind] = ("deletion", "insertion")
STEPS = 10
"""Curves have a point per tenth of the words, so that long and short documents compare."""
SHARES = np.linspace(0, 1, STEPS + 1)
"""Share of the words that is removed or added at each step, one word excepted."""
_TITLES = {
    "deletion": ("Deletion: lower is more faithful", "share of the words removed"),
    "insertion": ("Insertion: higher is more faithful", "share of the words added"),
}


@dataclass(frozen=True, eq=False)
class FaithfulnessCurve:
    """Scores while words are removed or added, both of shape (pairs, steps + 1).

    They are relative to the score of the whole document, in standard deviations of such scores.
    One word always stays, since the score of an empty document says little.
    `random` is averaged over the draws.
    """

    kind: Kind
    explained: Values
    random: Values

    @cached_property
    def areas(self) -> tuple[Sample, Sample]:
        """Areas under both curves of every pair, in the explained and in random order."""
        return Sample.of(_area(self.explained)), Sample.of(_area(self.random))

    @cached_property
    def gains(self) -> Sample:
        """Return the gain over random order of each pair; above 0 is faithful."""
        explained, random = (sample.gain[:, 0] for sample in self.areas)
        return Sample.of(random - explained if self.kind == "deletion" else explained - random)

    def to_dict(self, seed: int) -> dict[str, Any]:
        """Return areas, their difference with interval and p-value, and both mean curves."""
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
    """Both curves of one matcher; `evidence` is the title of the numbers that ordered the words."""

    model: str
    evidence: str
    num_draws: int
    seed: int
    curves: tuple[FaithfulnessCurve, ...]

    @property
    def num_pairs(self) -> int:
        """Number of explained pairs."""
        return len(self.curves[0].explained)

    @cached_property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """Kind -> areas, gain, interval, p-value and curves."""
        return {curve.kind: curve.to_dict(self.seed) for curve in self.curves}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "model": self.model,
            "evidence": self.evidence,
            "num_pairs": self.num_pairs,
            "num_draws": self.num_draws,
            "seed": self.seed,
            "shares": SHARES.tolist(),
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
    """Measure how faithful the explanations of a matcher are.

    Args:
        matcher: The matcher.
        pairs: Query and document; documents of fewer than two words are left out.
        num_draws: Random orders of the words to compare each explanation with.
        seed: Of random orders, bootstrap and permutation test.
        progress: Called with the number of texts that were scored since the last call.

    Raises:
        DataError: Fewer than two pairs can be measured.
    """
    if num_draws < 1:
        raise ConfigError(f"num_draws must be at least 1, got {num_draws}")
    random = np.random.default_rng(seed)
    evidence, probes, texts = "", [], list[TextPair]()
    for query, document in pairs:
        explanation = explain(matcher, query, document)
        words = explanation.document_words()
        titled = explanation.word_values("document")
        if titled is not None and len(words) > 1:
            evidence = evidence or titled[0]
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
        FaithfulnessCurve(kind, table[:, 0, index], table[:, 1:, index].mean(axis=1))
        for index, kind in enumerate(KINDS)
    )
    return Faithfulness(matcher.name, evidence, num_draws, seed, curves)


def faithfulness_chart(result: Faithfulness) -> Chart:
    """Draw both curves side by side; bands are 95 % bootstrap intervals over pairs."""
    title = alt.TitleParams(
        f"{result.model}: do its explanations name what matters?",
        subtitle=f"{result.num_pairs:,} pairs, {result.num_draws} random orders; "
        f"{result.evidence.lower()}",
    )
    panels = [_panel(result, curve) for curve in result.curves]
    chart: Chart = alt.hconcat(*panels, spacing=32).properties(title=title)
    return chart


def _panel(result: Faithfulness, curve: FaithfulnessCurve) -> Chart:
    lines = {"as explained": curve.explained, "random": curve.random}
    points = [
        LinePoint(name, float(share), float(column.mean()), *bootstrap_interval(Sample.of(column)))
        for name, values in lines.items()
        for share, column in zip(SHARES, values.T, strict=True)
    ]
    title, across = _TITLES[curve.kind]
    up = "change of the score (standard deviations)"
    return curves_with_bands(points, Titles(across, up, "order of the words", title))


def matching_pairs(split: "Split", num_pairs: int, seed: int = 0) -> list[TextPair]:
    """Draw at most `num_pairs` pairs labelled as matches from a split, in random order."""
    pairs = [(each.query, each.document) for each in split.pairs() if each.label > 0]
    if not pairs:
        raise DataError(f"split {split.name!r} has no pair labelled as a match to explain")
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:num_pairs]
    return [pairs[index] for index in chosen.tolist()]


def faithfulness_table(result: Faithfulness) -> Table:
    """Return a row per curve: areas, gain, interval and p-value."""
    rows: list[list[Cell]] = [
        [
            kind,
            outcome["area"],
            outcome["random_area"],
            signed(outcome["gain"]),
            interval(*outcome["ci"]),
            p_value(outcome["p"]),
        ]
        for kind, outcome in result.outcomes.items()
    ]
    note = (
        f"{result.num_pairs:,} matching pairs, {result.num_draws} random orders each; areas in "
        "standard deviations of the score; a gain above 0 means that the words named matter more "
        f"than others. Words by: {result.evidence.lower()}"
    )
    return Table(["curve", "area", "random", "gain", "95 % interval", "p"], rows, note=note)


class _Probe:
    """One pair, and the orders in which the words of its document are removed or added."""

    def __init__(
        self,
        query: str,
        document: str,
        words: list[ValuedWord],
        num_draws: int,
        random: np.random.Generator,
    ) -> None:
        self.query, self.words = query, words
        # Text beyond the length limit must not move up when words are removed.
        self.document = document[: words[-1].end]
        draws = [random.permutation(len(words)) for _ in range(1 + num_draws)]
        # Words of equal value go in random order: the order of the text would be arbitrary.
        values = np.array([word.value for word in words])
        draws[0] = draws[0][order(values[draws[0]])]
        self.orders = [draw.tolist() for draw in draws]

    def texts(self) -> Iterator[TextPair]:
        """Yield the document at every step: for each order, deletion and then insertion."""
        steps = np.linspace(0, len(self.words) - 1, STEPS + 1).round().astype(int).tolist()
        for ranking in self.orders:
            for step in steps:
                yield self.query, self._without(ranking[:step])
            for step in steps:
                yield self.query, self._without(ranking[step + 1 :])

    def _without(self, removed: list[int]) -> str:
        """Return the document without some words; the text between words stays."""
        parts, end = [], 0
        for word in (self.words[index] for index in sorted(removed)):
            parts.append(self.document[end : word.start])
            end = word.end
        return "".join([*parts, self.document[end:]])


def _area(curves: Values) -> Values:
    """Return the area under each row, over shares from 0 to 1."""
    return np.asarray((curves[:, :-1] + curves[:, 1:]).mean(axis=1) / 2, dtype=np.float64)

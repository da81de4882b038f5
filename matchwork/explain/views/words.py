"""View: what every word adds, and what all words sum to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import VIEWS, View
from matchwork.explain.views.reading import reading_values
from matchwork.ordering import order
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import signed_bars
from matchwork.report.highlight import Values
from matchwork.report.page import Table
from matchwork.types import SIDES, Side

MAX_BARS, BAR_WIDTH = 15, 260  # words per side; pixels
# Weights of words in a summary: their sum says nothing about the score.
NO_SHARES = ("salience", "attention", "jump")
MEANS = ("jump",)  # averaged over words, since their sum says nothing


@dataclass(frozen=True, eq=False)
class Contributions:
    """The word weights of one side, word by word, the most helpful word first.

    `words` has each word once, `counts` how often it occurs. `values`, shape (words, kinds), are
    sums over all occurrences, or means for the kinds in `MEANS`; a kind is "agreement", say.
    """

    side: Side
    kinds: tuple[str, ...]
    words: tuple[str, ...]
    counts: tuple[int, ...]
    values: Values

    @property
    def labels(self) -> list[str]:
        """The words, each with its count where it occurs several times."""
        return [
            word if count == 1 else f"{word} \N{MULTIPLICATION SIGN}{count}"
            for word, count in zip(self.words, self.counts, strict=True)
        ]

    @property
    def totals(self) -> Values:
        """The sum (or mean) of each kind over all words."""
        return self._pooled(0)

    def rows(self, top_k: int) -> list[tuple[str, list[float]]]:
        """Return rows of a table that adds up: the first words, the others as one, and all."""
        shown = list(zip(self.labels, self.values.tolist(), strict=True))[:top_k]
        others = sum(self.counts[top_k:])
        if others:
            shown.append((f"({others} more)", self._pooled(top_k).tolist()))
        return [*shown, (f"all {sum(self.counts)} words", self.totals.tolist())]

    def _pooled(self, first: int) -> Values:
        """Return the sum (or mean) over the words from `first` on."""
        values, counts = self.values[first:], np.array(self.counts[first:])
        means = counts @ values / max(1, counts.sum())
        pooled: Values = np.where(_are_means(self.kinds), means, values.sum(axis=0))
        return pooled


def contributions(explanation: Explanation) -> list[Contributions]:
    """Return the word weights of each side that has words and weights, query first."""
    return [
        _of_side(explanation, side)
        for side in SIDES
        if explanation.tokens(side) and explanation.word_weights(side)
    ]


def sum_line(explanation: Explanation) -> str:
    """Return how the words sum to the score, in a sentence; empty when they do not."""
    totals: dict[str, dict[Side, float]] = {}
    for one in contributions(explanation):
        for kind, value in zip(one.kinds, one.totals.tolist(), strict=True):
            totals.setdefault(kind, {})[one.side] = value
    for kind, parts in totals.items():
        if len(parts) > 1 and np.allclose(list(parts.values()), explanation.score, rtol=1e-3):
            return f"The words of either side add up to {explanation.score:.4f}; the score."
        total = 0.0 if kind.startswith(NO_SHARES) else sum(parts.values())
        if total and np.isclose(abs(total), abs(explanation.score), rtol=1e-3):
            sides = " + ".join(f"{value:.4f} ({side})" for side, value in parts.items())
            whole = f" = {total:.4f}" if len(parts) > 1 else ""
            end = "the score" if total * explanation.score > 0 else "the score is its negative"
            return f"{kind.capitalize()} of all words: {sides}{whole}; {end}."
    return ""


def _of_side(explanation: Explanation, side: Side) -> Contributions:
    weights, tokens = explanation.word_weights(side), explanation.tokens(side)
    kinds = tuple(name.removeprefix(f"{side}_") for name in weights)
    indices: dict[str, list[int]] = {}
    for index, token in enumerate(tokens):
        indices.setdefault(token.text.casefold(), []).append(index)
    groups = list(indices.values())
    table = np.stack(list(weights.values()), axis=1)
    sums = np.stack(
        [
            np.where(_are_means(kinds), table[rows].mean(axis=0), table[rows].sum(axis=0))
            for rows in groups
        ]
    )
    ranking = order(sums[:, 0]).tolist()
    words = tuple(tokens[groups[i][0]].text for i in ranking)
    return Contributions(side, kinds, words, tuple(len(groups[i]) for i in ranking), sums[ranking])


def _are_means(kinds: Sequence[str]) -> npt.NDArray[np.bool_]:
    return np.array([kind.startswith(MEANS) for kind in kinds])


def contribution_bars(explanation: Explanation, max_words: int = MAX_BARS) -> Chart | None:
    """Draw the most helpful words of each side on one scale; None without word weights.

    The subtitle says what all words of a side sum to.
    """
    sides = contributions(explanation)
    if not sides:
        return None
    shown = [value for one in sides for value in one.values[:max_words, 0]]
    scale = alt.Scale(domain=[min(0.0, *shown), max(0.0, *shown)], nice=True)
    x = alt.X("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4))
    panels = []
    for one in sides:
        bars = list(zip(one.labels, one.values[:, 0].tolist(), strict=True))[:max_words]
        some = f"the first {len(bars)} of {len(one.words)}, " if len(bars) < len(one.words) else ""
        subtitle = f"{some}all together {one.totals[0]:.4f}"
        title = alt.TitleParams(_title(explanation, one), subtitle=subtitle, fontSize=13)
        panels.append(
            signed_bars("word", bars, x, step=18).properties(width=BAR_WIDTH, title=title)
        )
    chart: Chart = alt.hconcat(*panels, spacing=40)
    return chart


def _title(explanation: Explanation, side: Contributions) -> str:
    return explanation.title(f"{side.side}_{side.kinds[0]}")


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    return [
        Table(
            [side.side, *side.kinds],
            [[label, *values] for label, values in side.rows(top_k or MAX_BARS)],
            _title(explanation, side),
        )
        for side in contributions(explanation)
    ]


def _charts(explanation: Explanation, max_words: int) -> list[Chart]:
    bars = contribution_bars(explanation)
    return [] if bars is None else [bars]


VIEWS.add(
    "words",
    View(
        title="Which words carried the match",
        order=60,
        tables=_tables,
        charts=_charts,
        notes=lambda found: [line] if (line := sum_line(found)) else [],
        # The view "reading" draws the same weights.
        picture=lambda found, max_words: [] if reading_values(found) else _charts(found, max_words),
    ),
)

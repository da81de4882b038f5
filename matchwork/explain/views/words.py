"""View: what every word adds, and what all words sum to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import VIEWS, View
from matchwork.explain.views.reading import reading_values
from matchwork.ordering import order
from matchwork.report.highlight import NEGATIVE, POSITIVE, Values
from matchwork.report.page import Table
from matchwork.types import Side

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart

SIDES: tuple[Side, Side] = ("query", "document")
MAX_BARS, BAR_WIDTH = 15, 260  # words per side; pixels
# Weights of words in a summary: their sum says nothing about the score.
NO_SHARES = ("salience", "attention", "jump")
MEANS = ("jump",)  # averaged over words, since their sum says nothing


@dataclass(frozen=True, eq=False)
class Contributions:
    """The word weights of one side, word by word, the most helpful word first.

    Args:
        side: Whose words these are.
        kinds: Kinds of weights ("agreement", "distance").
        words: Each word once.
        counts: How often each word occurs.
        values: Array, shape (words, kinds): the sum over all occurrences, or, for the kinds in
            `MEANS`, the mean.
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
    weights = {
        name.removeprefix(f"{side}_"): values
        for name, values in explanation.word_weights(side).items()
    }
    indices: dict[str, list[int]] = {}
    for index, token in enumerate(explanation.tokens(side)):
        indices.setdefault(token.text.casefold(), []).append(index)
    table = np.stack(list(weights.values()), axis=1)
    by_word = [table[rows] for rows in indices.values()]
    means = _are_means(tuple(weights))
    sums = np.stack([np.where(means, rows.mean(axis=0), rows.sum(axis=0)) for rows in by_word])
    words = [explanation.tokens(side)[rows[0]].text for rows in indices.values()]
    counts = [len(rows) for rows in indices.values()]
    ranking = order(sums[:, 0]).tolist()
    return Contributions(
        side,
        tuple(weights),
        tuple(words[i] for i in ranking),
        tuple(counts[i] for i in ranking),
        sums[ranking],
    )


def _are_means(kinds: Sequence[str]) -> npt.NDArray[np.bool_]:
    return np.array([kind.startswith(MEANS) for kind in kinds])


def contribution_bars(explanation: Explanation, max_words: int = MAX_BARS) -> "Chart | None":
    """Draw the most helpful words of each side on one scale; None without word weights.

    The subtitle says what all words of a side sum to.
    """
    import altair as alt

    sides = contributions(explanation)
    if not sides:
        return None
    shown = [value for one in sides for value in one.values[:max_words, 0]]
    scale = alt.Scale(domain=[min(0.0, *shown), max(0.0, *shown)], nice=True)
    chart: Chart = alt.hconcat(
        *(_bars(_title(explanation, one), one, max_words, scale) for one in sides), spacing=40
    )
    return chart


def _bars(title: str, side: Contributions, max_words: int, scale: Any) -> "Chart":
    import altair as alt

    labels, values = side.labels[:max_words], side.values[:max_words, 0]
    rows = [
        {"word": label, "value": float(value), "colour": POSITIVE if value >= 0 else NEGATIVE}
        for label, value in zip(labels, values, strict=True)
    ]
    some = f"the first {len(rows)} of {len(side.words)}, " if len(rows) < len(side.words) else ""
    heading = alt.TitleParams(
        title,
        subtitle=f"{some}all together {side.totals[0]:.4f}",
        fontSize=13,
    )
    bars: Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
            y=alt.Y("word:N", title=None, sort=None, axis=alt.Axis(labelLimit=140, ticks=False)),
            color=alt.Color("colour:N", scale=None),
            tooltip=["word:N", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width=BAR_WIDTH, height=alt.Step(18), title=heading)
    )
    return bars


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


def _charts(explanation: Explanation, max_words: int) -> list["Chart"]:
    bars = contribution_bars(explanation)
    return [] if bars is None else [bars]


def _picture(explanation: Explanation, max_words: int) -> list["Chart"]:
    """Leave the bars out where the view "reading" draws the same weights."""
    return [] if reading_values(explanation) else _charts(explanation, max_words)


VIEWS.add(
    "words",
    View(
        title="Which words carried the match",
        order=60,
        tables=_tables,
        charts=_charts,
        notes=lambda found: [line] if (line := sum_line(found)) else [],
        picture=_picture,
    ),
)

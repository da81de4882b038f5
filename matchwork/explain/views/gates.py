"""View: how far the gates of each word were open."""

from typing import TYPE_CHECKING, Any

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, VIEWS, View
from matchwork.report.drawing import CELL, word_axis
from matchwork.types import Side

if TYPE_CHECKING:
    import altair as alt

    from matchwork.report.drawing import Chart


def word_gates(explanation: Explanation, max_words: int = MAX_WORDS) -> "Chart | None":
    """Draw the gates of every word of both sides, from 0 to 1; None without gates."""
    import altair as alt

    sides: tuple[Side, Side] = ("query", "document")
    charts = [_gates_of(explanation, side, max_words) for side in sides if explanation.gates(side)]
    if not charts:
        return None
    chart: Chart = alt.vconcat(*charts, spacing=14)
    return chart.properties(title="How much each word takes from the other text")


def _gates_of(explanation: Explanation, side: Side, max_words: int) -> "alt.Chart":
    import altair as alt

    words = [token.text for token in explanation.tokens(side)][:max_words]
    cells: list[dict[str, Any]] = [
        {"gate": explanation.title(name), "w": index, "word": words[index], "value": float(value)}
        for name, values in explanation.gates(side).items()
        for index, value in enumerate(values[:max_words])
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=cells))
        .mark_rect()
        .encode(
            x=alt.X("w:O", title=None, axis=word_axis(words, labelAngle=-60)),
            y=alt.Y("gate:N", title=None, sort=None, axis=alt.Axis(labelLimit=240, ticks=False)),
            color=alt.Color("value:Q", title=None, scale=alt.Scale(scheme="blues", domain=[0, 1])),
            tooltip=["word:N", "gate:N", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width=alt.Step(CELL), height=alt.Step(CELL))
    )
    return chart


def _charts(explanation: Explanation, max_words: int) -> list["Chart"]:
    chart = word_gates(explanation, max_words)
    return [] if chart is None else [chart]


VIEWS.add("gates", View(title="How far the gates were open", order=100, charts=_charts))

"""View: what each part of a model adds to the score."""

from typing import TYPE_CHECKING

from matchwork.explain.explanation import Explanation
from matchwork.explain.shares import Shares
from matchwork.explain.view import VIEWS, View
from matchwork.report.highlight import NEGATIVE, POSITIVE
from matchwork.report.page import Table

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart


def share_bars(shares: Shares) -> "Chart":
    """Draw how far relevance and semantics move the score from where every pair starts."""
    import altair as alt

    effects = {"relevance": shares.relevance_effect, "semantics": shares.semantic_effect}
    rows = [
        {"part": part, "value": value, "colour": POSITIVE if value >= 0 else NEGATIVE}
        for part, value in effects.items()
    ]
    title = alt.TitleParams(
        "What relevance and semantics add to the score",
        subtitle=f"from {shares.neither:.4f}, both at their mean, to {shares.score:.4f}",
        fontSize=13,
    )
    bars: Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None, axis=alt.Axis(tickCount=5)),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(ticks=False)),
            color=alt.Color("colour:N", scale=None),
            tooltip=["part:N", alt.Tooltip("value:Q", format="+.4f")],
        )
        .properties(width=420, height=alt.Step(22), title=title)
    )
    return bars


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    shares = explanation.shares
    return [] if shares is None else [Table(["features", "score"], shares.rows())]


VIEWS.add(
    "shares",
    View(
        title="Relevance or semantics",
        order=10,
        charts=lambda found, max_words: [share_bars(found.shares)] if found.shares else [],
        tables=_tables,
        notes=lambda found: [found.shares.in_words()] if found.shares else [],
    ),
)

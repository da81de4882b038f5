"""What each part of a model added to a score, as bars."""

from typing import TYPE_CHECKING

from matchwork.explain.shares import Shares
from matchwork.report.highlight import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart


def share_bars(shares: Shares) -> "Chart":
    """How far relevance and semantics move the score from where every pair starts."""
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

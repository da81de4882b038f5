"""Charts of results: systems with intervals, wins and losses, calibration."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import INK, chart_of
from matchwork.report.highlight import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from matchwork.evaluate import Reliability


class Bar(NamedTuple):
    """The value of a system, with its confidence interval."""

    system: str
    value: float
    low: float
    high: float


def bar_with_intervals(rows: Iterable[Bar], measure: str = "") -> Chart:
    """Draw a bar per system in the order given, with its interval and value."""
    bars = [bar._asdict() | {"label": f"{bar.value:.4f}"} for bar in rows]
    base = chart_of(bars).encode(y=alt.Y("system:N", sort=None, title=None))
    value = alt.X("value:Q", title=measure)
    return alt.layer(
        base.mark_bar(color=POSITIVE, opacity=0.55, size=18).encode(x=value),
        base.mark_rule(color=INK, size=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=8, color=INK).encode(x=alt.X("high:Q"), text="label:N"),
    ).properties(width=460, height=alt.Step(34))


def wins_losses(differences: Iterable[float], measure: str = "") -> Chart:
    """Draw the difference of every query to the baseline, largest gain first."""
    changes = sorted(map(float, differences), reverse=True)
    gains = [change for change in changes if change > 0]
    losses = [change for change in changes if change < 0]
    ties = len(changes) - len(gains) - len(losses)
    panels = []
    for part, start, colour in ((gains, 0, POSITIVE), (losses, len(gains), NEGATIVE)):
        # The last value twice: a step needs an end.
        heights = enumerate([*part, *part[-1:]], start)
        steps = [{"query": position, "change": change} for position, change in heights]
        panels.append(
            chart_of(steps)
            .mark_area(interpolate="step-after", color=colour, opacity=0.8)
            .encode(
                x=alt.X("query:Q", title="queries, largest gain first", axis=alt.Axis(grid=False)),
                y=alt.Y("change:Q", title=f"change in {measure}" if measure else "change"),
            )
        )
    title = f"{len(gains):,} queries better, {len(losses):,} worse, {ties:,} equal"
    return alt.layer(*panels).properties(width=520, height=200, title=title)


def reliability_chart(reliability: "Reliability") -> Chart:
    """Draw predicted probabilities against observed shares of matches (a reliability diagram)."""
    rows = [each._asdict() for each in reliability.bins]
    top = max(max(each.probability, each.matched) for each in reliability.bins)
    top = min(1.0, math.ceil(max(top, 0.05) * 20) / 20)  # matches may be rare
    ends = [{"probability": end, "matched": end} for end in (0.0, top)]
    scale, axis = alt.Scale(domain=[0, top], nice=False), alt.Axis(tickCount=5)
    x = alt.X("probability:Q", title="probability said", scale=scale, axis=axis)
    y = alt.Y("matched:Q", title="share that matched", scale=scale, axis=axis)
    base = chart_of(rows).encode(x=x, y=y)
    tooltip = [alt.Tooltip(f"{name}:Q", format=".4~f") for name in ("probability", "matched")]
    diagonal = chart_of(ends).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1, opacity=0.6)
    return alt.layer(
        diagonal.encode(x=x, y=y),
        base.mark_line(color=POSITIVE),
        base.mark_point(color=POSITIVE, filled=True, opacity=1, size=60).encode(
            tooltip=[*tooltip, "pairs:Q"]
        ),
    ).properties(width=260, height=260)

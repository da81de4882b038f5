"""Line charts over a setting or over time, with intervals."""

from collections.abc import Sequence
from itertools import pairwise
from json import dumps
from typing import Any, NamedTuple, TypeAlias

from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import chart_of

# Told apart by everyone, on light and dark pages (after Okabe and Ito).
COLOURS = ("#2f6fb7", "#d9730d", "#1f9e77", "#c65a9e", "#8a8f2a", "#59b4e8", "#a0522d", "#7f7f7f")
_WIDTH, _HEIGHT = 380, 260
_DODGE = 0.05  # of the smallest step: intervals of several lines stand side by side
X: TypeAlias = str | int | float | bool


class LinePoint(NamedTuple):
    """A point of one line, with its interval."""

    line: str
    x: X
    value: float
    low: float
    high: float


class Titles(NamedTuple):
    """Titles of the axes, the legend and the chart; without `lines` there is no legend."""

    x: str
    y: str
    lines: str = ""
    chart: str = ""


def lines_with_intervals(
    points: Sequence[LinePoint], titles: Titles, *, joined: bool = True
) -> Chart:
    """Draw a dot for each value, with its interval as a bar; `joined` dots form a line.

    Numeric `x` lie to scale, others in the order given.
    """
    positions = _positions([point.x for point in points])
    names = list(dict.fromkeys(point.line for point in points))
    ordered = sorted(set(positions.values()))
    step = min((after - before for before, after in pairwise(ordered)), default=1.0)
    middle = (len(names) - 1) / 2
    rows: list[dict[str, Any]] = [
        point._asdict()
        | {"position": positions[point.x] + (names.index(point.line) - middle) * _DODGE * step}
        for point in points
    ]
    x = alt.X(
        "position:Q",
        title=titles.x,
        axis=alt.Axis(values=ordered, grid=False, **_labels(positions)),
        scale=alt.Scale(domain=[ordered[0] - step / 3, ordered[-1] + step / 3], nice=False),
    )
    base = chart_of(rows).encode(x=x, color=_colour(names, titles))
    value = alt.Y("value:Q", title=titles.y, scale=alt.Scale(zero=False))
    tooltip = ["line:N", "x:N", *(alt.Tooltip(f"{n}:Q", format=".4f") for n in _NUMBERS)]
    return alt.layer(
        base.mark_rule(opacity=0.45, size=2).encode(y=alt.Y("low:Q"), y2="high:Q"),
        *([base.mark_line(size=2).encode(y=value)] if joined else []),
        base.mark_point(filled=True, opacity=1, size=60).encode(y=value, tooltip=tooltip),
    ).properties(width=_WIDTH, height=_HEIGHT, title=titles.chart)


def curves_with_bands(points: Sequence[LinePoint], titles: Titles) -> Chart:
    """Draw a curve for each line over numeric `x`, with its intervals as a band."""
    names = list(dict.fromkeys(point.line for point in points))
    base = chart_of([point._asdict() for point in points]).encode(
        x=alt.X("x:Q", title=titles.x, axis=alt.Axis(grid=False, tickMinStep=1)),
        color=_colour(names, titles),
    )
    value = alt.Y("value:Q", title=titles.y, scale=alt.Scale(zero=False))
    return alt.layer(
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(size=2).encode(y=value),
    ).properties(width=_WIDTH, height=_HEIGHT, title=titles.chart)


_NUMBERS = ("value", "low", "high")


def _positions(values: Sequence[X]) -> dict[X, float]:
    """Map each value to its position on the axis."""
    found = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return {value: float(value) for value in found}
    return {value: float(position) for position, value in enumerate(found)}


def _labels(positions: dict[X, float]) -> dict[str, Any]:
    """Label each position with its value: 0.2 as 0.2 and 4 as 4."""
    names = [str(value) for value in positions]
    return {"labelExpr": f"{dumps(names)}[indexof({dumps(list(positions.values()))}, datum.value)]"}


def _colour(names: Sequence[str], titles: Titles) -> "alt.Color":
    legend = (
        alt.Legend(title=titles.lines, symbolType="circle", symbolOpacity=1)
        if titles.lines
        else None
    )
    colours = [COLOURS[position % len(COLOURS)] for position in range(len(names))]
    return alt.Color("line:N", scale=alt.Scale(domain=list(names), range=colours), legend=legend)

"""Lines over a setting or over time, each point with its interval."""

from collections.abc import Sequence
from itertools import pairwise
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import altair as alt

    from matchwork.explain.drawing import Chart

# Told apart by everyone, on light and dark pages (after Okabe and Ito).
COLOURS = ("#2f6fb7", "#d9730d", "#1f9e77", "#c65a9e", "#8a8f2a", "#59b4e8", "#a0522d", "#7f7f7f")
_WIDTH, _HEIGHT = 380, 260
_DODGE = 0.05  # of the smallest step: intervals of several lines stand side by side
X: TypeAlias = str | int | float | bool


class LinePoint(NamedTuple):
    """A value of one line, and the interval it is known to lie in."""

    line: str
    x: X
    value: float
    low: float
    high: float


class Titles(NamedTuple):
    """What a chart and its parts are called; without `lines` there is no legend."""

    x: str
    y: str
    lines: str = ""
    chart: str = ""


def lines_with_intervals(
    points: Sequence[LinePoint], titles: Titles, *, joined: bool = True
) -> "Chart":
    """A dot for each value with its interval as a bar; `joined`, dots of a line are connected.

    Numbers stand where they belong on the axis, other values in the order given.
    """
    import altair as alt

    places = _places([point.x for point in points])
    names = list(dict.fromkeys(point.line for point in points))
    ordered = sorted(set(places.values()))
    step = min((after - before for before, after in pairwise(ordered)), default=1.0)
    middle = (len(names) - 1) / 2
    rows: list[dict[str, Any]] = [
        point._asdict()
        | {"place": places[point.x] + (names.index(point.line) - middle) * _DODGE * step}
        for point in points
    ]
    x = alt.X(
        "place:Q",
        title=titles.x,
        axis=alt.Axis(values=ordered, grid=False, **_labels(places)),
        scale=alt.Scale(domain=[ordered[0] - step / 3, ordered[-1] + step / 3], nice=False),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=_colour(names, titles))
    value = alt.Y("value:Q", title=titles.y, scale=alt.Scale(zero=False))
    tooltip = ["line:N", "x:N", *(alt.Tooltip(f"{n}:Q", format=".4f") for n in _NUMBERS)]
    return alt.layer(
        base.mark_rule(opacity=0.45, size=2).encode(y=alt.Y("low:Q"), y2="high:Q"),
        *([base.mark_line(size=2).encode(y=value)] if joined else []),
        base.mark_point(filled=True, opacity=1, size=60).encode(y=value, tooltip=tooltip),
    ).properties(width=_WIDTH, height=_HEIGHT, title=titles.chart)


def curves_with_bands(points: Sequence[LinePoint], titles: Titles) -> "Chart":
    """A smooth run of values for each line, its interval as a band; `x` must be numbers."""
    import altair as alt

    names = list(dict.fromkeys(point.line for point in points))
    base = alt.Chart(alt.InlineData(values=[point._asdict() for point in points])).encode(
        x=alt.X("x:Q", title=titles.x, axis=alt.Axis(grid=False, tickMinStep=1)),
        color=_colour(names, titles),
    )
    value = alt.Y("value:Q", title=titles.y, scale=alt.Scale(zero=False))
    return alt.layer(
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(size=2).encode(y=value),
    ).properties(width=_WIDTH, height=_HEIGHT, title=titles.chart)


_NUMBERS = ("value", "low", "high")


def _places(values: Sequence[X]) -> dict[X, float]:
    """Where each value stands on the axis."""
    found = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return {value: float(value) for value in found}
    return {value: float(position) for position, value in enumerate(found)}


def _labels(places: dict[X, float]) -> dict[str, Any]:
    """Each place is called what stands there, 0.2 as 0.2 and 4 as 4."""
    names = [str(value) for value in places]
    return {"labelExpr": f"{dumps(names)}[indexof({dumps(list(places.values()))}, datum.value)]"}


def _colour(names: Sequence[str], titles: Titles) -> "alt.Color":
    import altair as alt

    legend = (
        alt.Legend(title=titles.lines, symbolType="circle", symbolOpacity=1)
        if titles.lines
        else None
    )
    colours = [COLOURS[position % len(COLOURS)] for position in range(len(names))]
    return alt.Color("line:N", scale=alt.Scale(domain=list(names), range=colours), legend=legend)

"""Charts of the analyses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import INK, chart_of
from matchwork.report.highlight import NEGATIVE, POSITIVE
from matchwork.studies.iasm.groups import Estimate, Group
from matchwork.studies.iasm.out_of_vocabulary import MEASURES, OutOfVocabulary
from matchwork.studies.iasm.overlap import MEASURE, Overlap
from matchwork.studies.iasm.smoothing import Smoothing

_COLOURS = (POSITIVE, NEGATIVE)


class _Mark(NamedTuple):
    """A value with its range, on the line `row` in the colour of `series`."""

    row: str
    series: str
    value: float | None
    low: float | None
    high: float | None
    label: str


def out_of_vocabulary_chart(found: OutOfVocabulary) -> Chart:
    """Draw a panel per measure, a line per class."""
    panels = [
        _panel(
            _group_marks(found.groups, measure, "{label}, n = {size:,}"),
            measure,
            width=200,
            show_rows=not position,
        )
        for position, measure in enumerate(MEASURES)
    ]
    return alt.hconcat(*panels, spacing=24).properties(title="By the least known noun or verb")


def overlap_chart(found: Overlap) -> Chart:
    """Draw a line per number of shared words."""
    row = "{label} shared " + ("stems" if found.stemmed else "words") + ", n = {size:,}"
    panel = _panel(_group_marks(found.groups, MEASURE, row), MEASURE, width=460)
    return panel.properties(title="By the words that query and relevant document share")


def smoothing_chart(results: Mapping[str, Smoothing]) -> Chart:
    """Draw how often the last matrix is smoother than the first, and by how much."""
    share, ratio = (list(_smoothing_marks(results, part)) for part in ("share", "ratio"))
    return alt.hconcat(
        _panel(share, "pairs with a smoother last matrix", width=240, percent=True),
        _panel(ratio, "variance, last by first (median)", width=240, show_rows=False),
        spacing=24,
    ).properties(title="Trained weights beside untrained ones")


def _group_marks(groups: Sequence[Group], measure: str, row: str) -> list[_Mark]:
    """Return a mark per group and system; empty groups have a line without values."""
    return [
        _mark(row.format(label=group.label, size=group.num_queries), system, found.get(measure))
        for group in groups
        for system, found in group.estimates.items()
    ]


def _mark(row: str, series: str, found: Estimate | None) -> _Mark:
    if found is None:
        return _Mark(row, series, None, None, None, "")
    return _Mark(row, series, *found, f"{found.value:.2f}")


def _smoothing_marks(results: Mapping[str, Smoothing], part: str) -> Iterator[_Mark]:
    for name, found in results.items():
        for split, one in found.splits.items():
            row = f"{name}, {split}, n = {one.num_pairs:,}"
            value = getattr(one.trained, part)
            mean, low, high = one.control(lambda each: float(getattr(each, part)))
            style = ".1%" if part == "share" else ".3g"
            yield _Mark(row, "trained", value, value, value, format(value, style))
            yield _Mark(row, "untrained", mean, low, high, format(mean, style))


def _panel(
    marks: Sequence[_Mark],
    title: str,
    *,
    width: int,
    show_rows: bool = True,
    percent: bool = False,
) -> Chart:
    """Draw points with their ranges, the series of a row one above the other."""
    rows = list(dict.fromkeys(mark.row for mark in marks))
    series = list(dict.fromkeys(mark.series for mark in marks))
    top = max((mark.high for mark in marks if mark.high is not None), default=0.0)
    base = chart_of(mark._asdict() for mark in marks).encode(
        y=alt.Y(
            "row:N",
            scale=alt.Scale(domain=rows, paddingInner=0.35),
            title=None,
            axis=alt.Axis(labelLimit=320, grid=False) if show_rows else None,
        ),
        yOffset=alt.YOffset("series:N", scale=alt.Scale(domain=series)),
        color=alt.Color(
            "series:N",
            scale=alt.Scale(domain=series, range=list(_COLOURS[: len(series)])),
            legend=alt.Legend(orient="top", title=None, symbolType="circle", labelLimit=320),
        ),
    )
    # Room on the right for the number beside the longest range.
    domain = alt.Scale(domain=[0, max(top, 1e-9) * 1.15], nice=False)
    axis = alt.Axis(format="%" if percent else "~g", tickCount=5)
    return alt.layer(
        base.mark_rule(size=2).encode(
            x=alt.X("low:Q", title=title, scale=domain, axis=axis), x2="high:Q"
        ),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=alt.X("value:Q")),
        base.mark_text(align="left", dx=7, fontSize=10).encode(
            x=alt.X("high:Q"), text="label:N", color=alt.value(INK)
        ),
    ).properties(width=width, height=alt.Step(15))

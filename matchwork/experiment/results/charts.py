"""A chart of results: the first measure of every recipe, with its interval and the baselines."""

from typing import TYPE_CHECKING, Any

from matchwork.experiment.results.tables import Group, rank_value
from matchwork.report.line_charts import COLOURS

if TYPE_CHECKING:
    from matchwork.report.altair import Chart

_COLOURS = dict(zip(("ours", "baseline", "paper"), COLOURS, strict=False))
_WIDTH, _ROW = 420, 16


def results_chart(group: Group, measure: str) -> "Chart":
    """Draw one measure of every recipe and baseline of a group, best first.

    A dot is the mean, a bar its 95 % interval, a diamond the published value, the dashed line BM25.
    """
    import altair as alt

    rows = _rows(group, measure)
    names = [row["name"] for row in rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "name:N",
            sort=names,
            title=None,
            axis=alt.Axis(grid=True, labelLimit=300, ticks=False, domain=False),
        )
    )
    published = [row | {"kind": "paper"} for row in rows if row["paper"] is not None]
    kinds = [kind for kind in _COLOURS if kind != "paper" or published]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[_COLOURS[kind] for kind in kinds]),
        legend=alt.Legend(title=None, orient="top", symbolType="circle", symbolOpacity=1),
    )
    value = alt.X("value:Q", title=measure, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
    first = [row for row in rows if row["name"] == "BM25"]
    return alt.layer(
        alt.Chart(alt.InlineData(values=first))
        .mark_rule(strokeDash=[4, 3], color=_COLOURS["baseline"])
        .encode(x=value),
        base.mark_rule(opacity=0.45, size=2).encode(x="low:Q", x2="high:Q", color=colour),
        base.mark_point(filled=True, opacity=1, size=45).encode(x=value, color=colour),
        alt.Chart(alt.InlineData(values=published))
        .mark_point(shape="diamond", size=45)
        .encode(x=alt.X("paper:Q"), y=alt.Y("name:N", sort=names), color=colour),
    ).properties(width=_WIDTH, height=_ROW * len(rows))


def _rows(group: Group, measure: str) -> list[dict[str, Any]]:
    """Return a row for each baseline and recipe, the best first."""
    systems = [(name, values, "baseline") for name, values in group.baselines.items()]
    systems += [(one["recipe"], one["measures"], "ours") for one in group.results]
    systems.sort(key=lambda each: rank_value(each[1], measure))
    return [
        {
            "name": name,
            "kind": kind,
            "value": values[measure]["mean"],
            "low": values[measure]["ci"][0],
            "high": values[measure]["ci"][1],
            "paper": values[measure].get("paper"),
        }
        for name, values, kind in systems
        if measure in values
    ]

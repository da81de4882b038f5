"""How fast a score falls or rises in the order of an explanation, beside random order."""

from typing import TYPE_CHECKING

from matchwork.evaluate import bootstrap_interval
from matchwork.evaluate.sample import Sample
from matchwork.explain.faithfulness import Faithfulness, FaithfulnessCurve
from matchwork.report.line_charts import LinePoint, Titles, curves_with_bands

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart

_TITLES = {
    "deletion": ("Deletion: lower is more faithful", "share of the words removed"),
    "insertion": ("Insertion: higher is more faithful", "share of the words put in"),
}


def faithfulness_chart(found: Faithfulness) -> "Chart":
    """Both curves side by side; bands are 95 % bootstrap intervals over pairs."""
    import altair as alt

    panels = [_panel(found, curve) for curve in found.curves]
    notes = f"{found.num_pairs:,} pairs, {found.num_draws} random orders; {found.evidence.lower()}"
    title = alt.TitleParams(
        f"{found.model}: do its explanations name what matters?", subtitle=notes
    )
    chart: Chart = alt.hconcat(*panels, spacing=32).properties(title=title)
    return chart


def _panel(found: Faithfulness, curve: FaithfulnessCurve) -> "Chart":
    lines = {"as explained": curve.explained, "random": curve.random}
    points = [
        LinePoint(name, float(share), float(column.mean()), *bootstrap_interval(Sample.of(column)))
        for name, values in lines.items()
        for share, column in zip(found.shares, values.T, strict=True)
    ]
    title, across = _TITLES[curve.kind]
    up = "change of the score (standard deviations)"
    return curves_with_bands(points, Titles(across, up, "order of the words", title))

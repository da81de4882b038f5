"""Charts as Vega-Lite, SVG, PNG and live HTML, through vl-convert: no browser, no network."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from matchwork.report.altair import Chart, alt
from matchwork.report.highlight import NEGATIVE, POSITIVE

# Ids that a drawing refers to: colours of legends, edges of panels.
_IDS = re.compile(r'(?<= id=")(?=(?:gradient_|clip)\d)|(?<="url\(#)(?=(?:gradient_|clip)\d)')
# Inherited from the page, so that charts follow its light or dark colours.
INK = "currentColor"
CELL = 18  # pixels: the smallest square whose label can be read
# A wide padding, since a browser's font may be wider than the one measured here; without
# `labelFlush`, or else the outer labels move into their neighbours.
_CONFIG = json.loads(Path(__file__).with_name("charts.json").read_text(encoding="utf-8"))


def to_vega_lite(chart: Chart) -> dict[str, Any]:
    """Return a chart with its data and our style, for any Vega-Lite renderer."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["config"] = dict(_CONFIG)
    return spec


def to_svg(chart: Chart) -> str:
    """Return an `<svg>` element without scripts, in the colours of the page around it.

    Its ids are unique, so that its legends do not take colours of another drawing on the page.
    """
    import vl_convert

    spec = to_vega_lite(chart)
    own = blake2b(json.dumps(spec, sort_keys=True).encode(), digest_size=6).hexdigest()
    drawing = str(vl_convert.vegalite_to_svg(spec, vl_version=_version()))
    return _IDS.sub(f"drawing-{own}-", drawing)


def to_png(chart: Chart, scale: float = 2.0) -> bytes:
    """Return a picture on white; `scale` is pixels per CSS pixel."""
    import vl_convert

    spec = to_vega_lite(chart)
    spec["config"]["background"] = "white"
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_version(), scale=scale))


def to_live_html(chart: Chart) -> str:
    """Return an HTML fragment with tooltips; it contains all of vega (about 900 kB)."""
    import vl_convert

    # "<" as an escape: a word such as "</script>" must not end the script.
    spec = json.dumps(to_vega_lite(chart)).replace("<", "\\u003c")
    options = json.dumps({"actions": False, "renderer": "svg"})
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return (
        f"<div class='scroll' id='chart'></div>\n<script>{bundle}</script>\n"
        f"<script>vegaEmbed('#chart', {spec}, {options});</script>"
    )


def chart_of(rows: Iterable[Mapping[str, Any]]) -> "alt.Chart":
    """Return an empty chart with these rows as its data."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def value_tip(*names: str, format: str = ".4f") -> list[Any]:
    """Return a tooltip with these columns as texts, and with the column `value`."""
    return [*(f"{name}:N" for name in names), alt.Tooltip("value:Q", format=format)]


def heat_cells(
    rows: Iterable[Mapping[str, Any]], x: "alt.X", y: "alt.Y", scale: "alt.Scale", *tips: str
) -> "alt.Chart":
    """Draw a square for each row, coloured by its `value`; `tips` are columns of the tooltip."""
    colour = alt.Color("value:Q", title=None, scale=scale)
    chart: alt.Chart = (
        chart_of(rows)
        .mark_rect()
        .encode(x=x, y=y, color=colour, tooltip=value_tip(*tips))
        .properties(width=alt.Step(CELL), height=alt.Step(CELL))
    )
    return chart


def signed_bars(
    what: str, values: Iterable[tuple[str, float]], x: "alt.X", step: int, format: str = ".4f"
) -> "alt.Chart":
    """Draw a horizontal bar per named value (of a `what`), blue above zero and orange below."""
    rows = [
        {what: name, "value": value, "colour": POSITIVE if value >= 0 else NEGATIVE}
        for name, value in values
    ]
    bars: alt.Chart = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y(f"{what}:N", title=None, sort=None, axis=alt.Axis(labelLimit=140, ticks=False)),
            color=alt.Color("colour:N", scale=None),
            tooltip=value_tip(what, format=format),
        )
        .properties(height=alt.Step(step))
    )
    return bars


def stack(charts: Sequence[Chart], title: str = "", spacing: int = 24) -> Chart:
    """Return charts one below the other, each with colours and legends of its own."""
    column: Chart = alt.vconcat(*charts, spacing=spacing).resolve_scale(
        color="independent", yOffset="independent"
    )
    heading = alt.TitleParams(title, fontSize=16, offset=14)
    return column.properties(title=heading) if title else column


def word_axis(words: Sequence[str], **options: Any) -> "alt.Axis":
    """Return an axis with positions as ticks and words as labels: a word may occur twice."""
    labels = f"{json.dumps(list(words))}[datum.value]"
    return alt.Axis(labelExpr=labels, labelLimit=140, ticks=False, domain=False, **options)


def colour_scale(tables: Sequence[npt.NDArray[np.float64]]) -> "alt.Scale":
    """Return a scale from 0 to the largest value; orange below zero where there are negatives."""
    largest = max(float(np.abs(table).max(initial=0)) for table in tables) or 1.0
    if min(float(table.min(initial=0)) for table in tables) >= 0:
        return alt.Scale(scheme="blues", domain=[0, largest])
    return alt.Scale(scheme="blueorange", domain=[-largest, largest], reverse=True)


def _version() -> str:
    """Return the Vega-Lite version that altair writes, in the form vl-convert expects."""
    return ".".join(alt.SCHEMA_VERSION.split(".")[:2])

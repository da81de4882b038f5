"""Charts to Vega-Lite, SVG, PNG and live HTML through vl-convert: no browser, no network."""

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # altair takes most of a second to import
    import altair as alt

    Chart: TypeAlias = (
        alt.Chart
        | alt.LayerChart
        | alt.FacetChart
        | alt.ConcatChart
        | alt.HConcatChart
        | alt.VConcatChart
    )

FONT = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
# What others refer to in a drawing: colours of legends, edges of panels.
_IDS = re.compile(r'(?<= id=")(?=(?:gradient_|clip)\d)|(?<="url\(#)(?=(?:gradient_|clip)\d)')
# Inherited from the page, so that charts follow its light or dark colours.
INK = "currentColor"
_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "padding": 16,  # a browser's font may be wider than the one measured here
    "view": {"stroke": None},
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 14, "offset": 8},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "tickColor": INK,
        "domainColor": INK,
        "gridColor": "#8884",
        "labelFontSize": 11,
        "labelFlush": False,  # else the outer labels move into their neighbours
        "labelSeparation": 6,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
    "header": {"labelColor": INK, "titleColor": INK},
}


def to_vega_lite(chart: "Chart") -> dict[str, Any]:
    """The chart with its data and our look, as any Vega-Lite renderer draws it."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["config"] = dict(_CONFIG)
    return spec


def to_svg(chart: "Chart") -> str:
    """An `<svg>` element without scripts, in the colours of the page around it.

    Its ids are its own: a page may hold other drawings, whose colours legends would take.
    """
    import vl_convert

    spec = to_vega_lite(chart)
    own = blake2b(json.dumps(spec, sort_keys=True).encode(), digest_size=6).hexdigest()
    drawing = str(vl_convert.vegalite_to_svg(spec, vl_version=_version()))
    return _IDS.sub(f"drawing-{own}-", drawing)


def to_png(chart: "Chart", scale: float = 2.0) -> bytes:
    """A picture on white."""
    import vl_convert

    spec = to_vega_lite(chart)
    spec["config"]["background"] = "white"
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_version(), scale=scale))


def to_live_html(chart: "Chart") -> str:
    """A fragment with tooltips; the whole of vega travels in it (about 900 kB)."""
    import vl_convert

    # "<" as an escape: a word such as "</script>" must not end the script.
    spec = json.dumps(to_vega_lite(chart)).replace("<", "\\u003c")
    options = json.dumps({"actions": False, "renderer": "svg"})
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return (
        f"<div class='scroll' id='chart'></div>\n<script>{bundle}</script>\n"
        f"<script>vegaEmbed('#chart', {spec}, {options});</script>"
    )


def _version() -> str:
    """The Vega-Lite version that altair writes, as vl-convert calls it."""
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.split(".")[:2])

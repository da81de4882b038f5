"""Altair, imported when a chart is first drawn, since that takes most of a second."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["Chart", "alt"]

if TYPE_CHECKING:
    import altair as alt

    Chart: TypeAlias = (
        alt.Chart
        | alt.LayerChart
        | alt.FacetChart
        | alt.ConcatChart
        | alt.HConcatChart
        | alt.VConcatChart
    )
else:
    Chart = Any

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("altair"), name)

    alt = _Altair()

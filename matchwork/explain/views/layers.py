"""View: how the table of word matching changes from layer to layer."""

from typing import NamedTuple

from matchwork.explain.explanation import Explanation, WordPair
from matchwork.explain.titles import layer_of, layer_title
from matchwork.explain.view import VIEWS, View
from matchwork.report.numbers import Cell
from matchwork.report.page import Table


class LayerSummary(NamedTuple):
    """The table of a layer in numbers; `spread` is the standard deviation of its cells."""

    name: str
    mean: float
    spread: float
    strongest: WordPair


def layer_names(explanation: Explanation) -> list[str]:
    """Return the names of the matching tables, layer by layer; none unless there are several."""
    names = [name for name in explanation.tables if layer_of(name) is not None]
    has_cells = bool(names) and explanation.tables[names[0]].size > 0
    return names if has_cells and len(names) > 1 else []


def layer_summaries(explanation: Explanation) -> list[LayerSummary]:
    """Return mean, spread and strongest word pair of every layer, in order."""
    return [
        LayerSummary(
            name,
            float(explanation.tables[name].mean()),
            float(explanation.tables[name].std()),
            explanation.strongest(name, top_k=1)[0],
        )
        for name in layer_names(explanation)
    ]


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    rows: list[list[Cell]] = [
        [layer_title(name), mean, spread, f"{query} – {document}", value]
        for name, mean, spread, (query, document, value) in layer_summaries(explanation)
    ]
    return [Table(["layer", "mean", "spread", "strongest pair", "value"], rows)] if rows else []


VIEWS.add(
    "layers",
    View(title="How word matching changes from layer to layer", order=80, tables=_tables),
)

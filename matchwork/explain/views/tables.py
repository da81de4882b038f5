"""View: heat maps of words against words, one table or all layers side by side."""

import math

import numpy as np
import numpy.typing as npt

from matchwork.explain.explanation import Explanation
from matchwork.explain.titles import ATTENTION, RELEVANCE
from matchwork.explain.view import MAX_PAGE_WORDS, MAX_WORDS, VIEWS, View
from matchwork.explain.views.layers import LayerSummary, layer_names, layer_summaries
from matchwork.explain.views.paths import GATES, INTERACTION, MatchingPath, matching_paths
from matchwork.ordering import order
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import (
    CELL,
    chart_of,
    colour_scale,
    heat_cells,
    stack,
    word_axis,
)
from matchwork.report.highlight import Values
from matchwork.report.page import Figure, Heading, Section
from matchwork.types import Side

PAGE, PANEL = 1000, 230  # pixels: width of a row of layers; least width of one, for its title
FORWARD, REVERSE = "#c2185b", "#1b7837"  # red and green paths, neither a colour of the cells
STANDING_OUT = 3.0  # spreads from the mean that get the full colour
_LEVELS = {
    RELEVANCE: "Relevance: how strongly each query phrase is found, times its weight",
    ATTENTION: "Co-attention: which query words each document word attends to",
}
Indices = npt.NDArray[np.int64]


def heat_map(
    explanation: Explanation, table: str | None = None, max_words: int = MAX_WORDS
) -> Chart:
    """Draw one table as colours, words in text order; the interaction with its matching paths.

    Args:
        explanation: The explanation.
        table: Name of the table; the first by default.
        max_words: Most words per side. The words with the strongest cells stay, and the title
            says so.
    """
    name = table or next(iter(explanation.tables), "")
    values = explanation.weighted(name)
    rows, columns = _words_shown(explanation, values, max_words)
    notes = _left_out(values, rows, columns) + _in_phrases(explanation, name)
    chart: Chart = _map(explanation, name, values, rows, columns, colour_scale([values]))
    if name == INTERACTION and (paths := _visibly_different(matching_paths(explanation))):
        notes += [_line_in_words(path) for path in paths]
        chart = alt.layer(chart, *(part for p in paths for part in _line(p, rows, columns)))
    title = alt.TitleParams(explanation.title(name), subtitle=notes or alt.Undefined)
    return chart.properties(title=title)


def heat_maps(explanation: Explanation, max_words: int = MAX_WORDS) -> list[Chart]:
    """Draw every table with cells: layers or levels together, the others in order, then gates.

    A table that no layer changes is drawn once.
    """
    tables = {name: table for name, table in explanation.tables.items() if table.size}
    layers = layer_names(explanation)
    levels = {kind: [name for name in tables if name.startswith(kind)] for kind in _LEVELS}
    scans = [[f"{gate}{suffix}" for gate in GATES] for suffix in ("", "_reverse")]
    gates = [names for names in scans if tables.keys() >= set(names)]
    charts: list[Chart] = []
    if any(not np.array_equal(tables[name], tables[layers[0]]) for name in layers):
        charts = [layer_strip(explanation, max_words), outstanding_strip(explanation, max_words)]
    elif layers:
        charts = [heat_map(explanation, layers[0], max_words)]
    for kind, names in levels.items():
        if names:
            notes = {name: _in_phrases(explanation, name) for name in names}
            values = {name: explanation.weighted(name) for name in names}
            charts.append(_strip(explanation, values, notes, _LEVELS[kind], max_words))
    drawn = {*layers, *(name for names in (*levels.values(), *gates) for name in names)}
    charts += [heat_map(explanation, name, max_words) for name in tables if name not in drawn]
    for names in gates:
        values = {name: tables[name] for name in names}
        charts.append(_strip(explanation, values, {}, "Where each state comes from", max_words))
    return charts


def layer_strip(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart:
    """Draw the matching table of every layer, all on one scale of colours."""
    summaries = layer_summaries(explanation)
    tables = {summary.name: explanation.tables[summary.name] for summary in summaries}
    notes = {summary.name: _in_words(summary) for summary in summaries}
    return _strip(explanation, tables, notes, "Word matching, layer by layer", max_words)


def outstanding_strip(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart:
    """Draw every layer on a scale of its own, which shows what is left in a smooth table."""
    tables = {
        s.name: np.clip(
            (explanation.tables[s.name] - s.mean) / (s.spread or 1.0), -STANDING_OUT, STANDING_OUT
        )
        for s in layer_summaries(explanation)
    }
    title = "What stands out in each layer: spreads above or below its mean"
    return _strip(explanation, tables, {}, title, max_words)


def _strip(
    explanation: Explanation,
    tables: dict[str, Values],
    notes: dict[str, list[str]],
    title: str,
    max_words: int,
) -> Chart:
    """Draw panels in rows as wide as a page, one below the other when the texts are long.

    All panels show the same words, those with the strongest cells of any panel.
    """
    strength = np.abs(np.stack([explanation.tables[name] for name in tables])).max(axis=0)
    rows, columns = _words_shown(explanation, strength, max_words)
    colours = colour_scale(list(tables.values()))
    in_a_row = _columns(len(tables), max(PANEL, CELL * len(columns) + 40))
    panels = []
    for position, (name, table) in enumerate(tables.items()):
        first, lowest = position % in_a_row == 0, in_a_row > 1 or position == len(tables) - 1
        chart = _map(explanation, name, table, rows, columns, colours, (first, lowest))
        heading = explanation.title(name).removeprefix("Word matching ")
        subtitle = notes.get(name) or alt.Undefined
        panels.append(
            chart.properties(title=alt.TitleParams(heading, subtitle=subtitle, fontSize=12))
        )
    whole = alt.TitleParams(title, subtitle=_left_out(strength, rows, columns) or alt.Undefined)
    strip: Chart = alt.concat(*panels, columns=in_a_row, spacing=14).properties(title=whole)
    return strip


def _map(
    explanation: Explanation,
    name: str,
    values: Values,
    rows: Indices,
    columns: Indices,
    colours: "alt.Scale",
    labelled: tuple[bool, bool] = (True, True),
) -> "alt.Chart":
    """Draw a table; `labelled` says whether its rows and its columns are."""
    queries = [explanation.query_tokens[i].text for i in rows]
    documents = [explanation.document_tokens[i].text for i in columns]
    length = explanation.phrase_length(name)
    of_query = [explanation.phrase("query", i, length) for i in rows]
    of_document = [explanation.phrase("document", i, length) for i in columns]
    cells = [
        {"q": q, "d": d, "query": of_query[q], "document": of_document[d], "value": float(value)}
        for (q, d), value in np.ndenumerate(values[np.ix_(rows, columns)])
    ]
    across = word_axis(documents, labelAngle=-60) if labelled[1] else None
    down = word_axis(queries) if labelled[0] else None
    x = alt.X("d:O", title="document", axis=across)
    y = alt.Y("q:O", title="query", axis=down)
    return heat_cells(cells, x, y, colours, "query", "document")


def _visibly_different(paths: list[MatchingPath]) -> list[MatchingPath]:
    """Leave out paths that differ from an earlier one only in how they leave the grid."""
    first: dict[tuple[object, ...], MatchingPath] = {}
    for path in paths:
        first.setdefault((path.reverse, *path.positions), path)
    return list(first.values())


def _line(path: MatchingPath, rows: Indices, columns: Indices) -> list["alt.Chart"]:
    """Draw a path through the words that are shown: colours for directions, dashes for rules."""
    row_at = {int(row): index for index, row in enumerate(rows)}
    column_at = {int(column): index for index, column in enumerate(columns)}
    points = [
        {"q": row_at[row], "d": column_at[column], "step": step}
        for step, (row, column) in enumerate(path.positions)
        if row in row_at and column in column_at
    ]
    base = chart_of(points).encode(x="d:O", y="q:O", order="step:Q")
    colour = REVERSE if path.reverse else FORWARD
    dash = [4, 3] if path.rule == "merged" else [1, 0]
    return [
        base.mark_line(color=colour, strokeWidth=2.5, strokeDash=dash),
        base.mark_circle(color=colour, size=44, opacity=1, stroke="white", strokeWidth=1),
    ]


def _line_in_words(path: MatchingPath) -> str:
    kind = "dashed" if path.rule == "merged" else "solid"
    return f"{kind} {'green' if path.reverse else 'red'} line: {path.title.lower()}"


def _columns(num_panels: int, width: int) -> int:
    """Return how many panels stand side by side, in rows of equal length that fit a page."""
    num_rows = math.ceil(num_panels / max(1, PAGE // width))
    return math.ceil(num_panels / num_rows)


def _in_words(summary: LayerSummary) -> list[str]:
    query, document, value = summary.strongest
    return [
        f"mean {summary.mean:.2f}, spread {summary.spread:.3f}",
        f"strongest {query} – {document} {value:.2f}",
    ]


def _in_phrases(explanation: Explanation, name: str) -> list[str]:
    length = explanation.phrase_length(name)
    return [f"phrases of {length} words, by their first"] if length > 1 else []


def _words_shown(
    explanation: Explanation, values: Values, max_words: int
) -> tuple[Indices, Indices]:
    cells = np.abs(values)
    return (
        _strongest(explanation, "query", cells.max(axis=1, initial=0), max_words),
        _strongest(explanation, "document", cells.max(axis=0, initial=0), max_words),
    )


def _strongest(explanation: Explanation, side: Side, strength: Values, max_words: int) -> Indices:
    """Return the strongest words in text order; tokens list bigrams after the words."""
    tokens = explanation.tokens(side)
    strongest = order(strength)[:max_words]
    return np.array(sorted(strongest, key=lambda i: tokens[i][1:]), dtype=np.int64)


def _left_out(values: Values, rows: Indices, columns: Indices) -> list[str]:
    counts = {"query": (len(rows), values.shape[0]), "document": (len(columns), values.shape[1])}
    return [
        f"the {shown} of {total} {side} words with the strongest cells"
        for side, (shown, total) in counts.items()
        if shown < total
    ]


def _page(explanation: Explanation) -> list[Section]:
    maps = heat_maps(explanation, MAX_PAGE_WORDS)
    caption = "Point at a cell to read its words and value."
    figures = [Figure(stack(maps), caption, live=True)] if maps else []
    return [Heading("Every word against every word"), *figures] if figures else []


VIEWS.add(
    "tables",
    View(title="Every word against every word", order=90, charts=heat_maps, page=_page),
)

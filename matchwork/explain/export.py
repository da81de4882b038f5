"""An explanation as a file: JSON for programs, HTML for reading, PNG and SVG for showing.

`.vl.json` is the picture as Vega-Lite, for pages and notebooks that draw it themselves.
"""

from collections.abc import Callable
from pathlib import Path

from matchwork.errors import ConfigError
from matchwork.explain.answers import ALIGNMENT, answers
from matchwork.explain.code_charts import code_strip, word_gates
from matchwork.explain.contributions import Contributions, contributions, sum_line
from matchwork.explain.explanation import Explanation
from matchwork.explain.heat_maps import heat_maps
from matchwork.explain.highlight import Highlight
from matchwork.explain.layers import layer_summaries
from matchwork.explain.paths import matching_paths
from matchwork.explain.phrases import HEADER, phrase_matches
from matchwork.explain.picture import picture
from matchwork.explain.reading_charts import reading_bars, reading_values
from matchwork.explain.share_charts import share_bars
from matchwork.explain.titles import CONTEXT_JUMP, evidence_title, layer_title
from matchwork.explain.word_charts import MAX_BARS, contribution_bars
from matchwork.files import atomic_write, write_json, write_text
from matchwork.report.drawing import stack, to_png, to_svg, to_vega_lite
from matchwork.report.numbers import Cell
from matchwork.report.page import (
    Figure,
    Heading,
    MarkedText,
    Paragraph,
    Section,
    Table,
    write_report,
)

MAX_PAGE_WORDS = 400  # a page scrolls; past this a browser grows slow


def save(explanation: Explanation, path: str | Path) -> None:
    """Write an explanation in the format that the suffix of `path` names."""
    path = Path(path)
    for suffix, writer in _WRITERS.items():
        if path.name.lower().endswith(suffix):
            writer(explanation, path)
            return
    raise ConfigError(
        f"cannot tell how to write {path.name!r}: no format for suffix {path.suffix!r}; "
        f"use {', '.join(_WRITERS)}"
    )


def _write_json(explanation: Explanation, path: Path) -> None:
    write_json(path, explanation.to_json())


def _write_html(explanation: Explanation, path: Path) -> None:
    sections: list[Section] = [Highlight(explanation), *_shares(explanation)]
    sections += _phrase_tables(explanation) + _answers(explanation) + _reading(explanation)
    bars = contribution_bars(explanation)
    if bars is not None:
        sections += [Heading("Which words carried the match"), Figure(bars)]
        sections += [_contribution_table(side) for side in contributions(explanation)]
        sections += [Paragraph(line) for line in [sum_line(explanation)] if line]
    sections += _path_tables(explanation)
    maps = heat_maps(explanation, MAX_PAGE_WORDS)
    if maps:
        sections += [
            Heading("Every word against every word"),
            *_layer_table(explanation),
            Figure(stack(maps), "Point at a cell to read its words and value.", live=True),
        ]
    sections += _inner(explanation)
    write_report(path, f"Why this score: {explanation.model}", sections)


def _answers(explanation: Explanation) -> list[Section]:
    """Which document word answered each query word, where the model aligns them."""
    rows: list[list[Cell]] = [list(pair) for pair in answers(explanation)]
    title = evidence_title(ALIGNMENT)
    return [Heading(title), Table(["query", "document", "cosine"], rows)] if rows else []


def _reading(explanation: Explanation) -> list[Section]:
    """Attention and jump along the document, where the model reads it word by word."""
    chart = reading_bars(explanation, MAX_PAGE_WORDS)
    if chart is None:
        return []
    sections: list[Section] = [Heading("How the document was read"), Figure(chart)]
    jumps = reading_values(explanation).get(CONTEXT_JUMP)
    if jumps is not None:
        text, tokens = explanation.document, explanation.document_tokens
        sections.append(MarkedText(text, tokens, jumps, evidence_title(CONTEXT_JUMP)))
    return sections


def _inner(explanation: Explanation) -> list[Section]:
    """Gates and codes, where the model has some."""
    charts = {
        "How far the gates were open": word_gates(explanation, MAX_PAGE_WORDS),
        "Codes before and after denoising": code_strip(explanation, MAX_PAGE_WORDS),
    }
    return [
        part
        for title, chart in charts.items()
        if chart is not None
        for part in (Heading(title), Figure(chart))
    ]


def _shares(explanation: Explanation) -> list[Section]:
    """What relevance and semantics made of the score, where the model has both."""
    shares = explanation.shares
    if shares is None:
        return []
    rows: list[list[Cell]] = [list(row) for row in shares.rows()]
    return [
        Heading("Relevance or semantics"),
        Figure(share_bars(shares)),
        Table(["features", "score"], rows),
        Paragraph(shares.in_words()),
    ]


def _phrase_tables(explanation: Explanation) -> list[Section]:
    """The best match of every query phrase, level by level."""
    tables: list[Section] = [
        Table(HEADER, level.rows(len(level.matches)), level.title)
        for level in phrase_matches(explanation)
    ]
    return [Heading("Which phrases were found"), *tables] if tables else []


def _contribution_table(side: Contributions) -> Table:
    rows: list[list[Cell]] = [[label, *values] for label, values in side.rows(MAX_BARS)]
    return Table([side.side, *side.kinds], rows)


def _path_tables(explanation: Explanation) -> list[Section]:
    """The words that each matching path aligns, where the model walks along one."""
    tables: list[Section] = [
        Table(["query", "document", "interaction"], rows, path.title)
        for path in matching_paths(explanation)
        if (rows := path.aligned(explanation))
    ]
    return [Heading("Which words the matching path aligns"), *tables] if tables else []


def _layer_table(explanation: Explanation) -> list[Section]:
    rows: list[list[Cell]] = [
        [layer_title(name), mean, spread, f"{query} – {document}", value]
        for name, mean, spread, (query, document, value) in layer_summaries(explanation)
    ]
    header = ["layer", "mean", "spread", "strongest pair", "value"]
    return [Table(header, rows, "How the matrix changes from layer to layer")] if rows else []


def _write_png(explanation: Explanation, path: Path) -> None:
    content = to_png(picture(explanation))
    with atomic_write(path, "wb") as stream:
        stream.write(content)


def _write_svg(explanation: Explanation, path: Path) -> None:
    write_text(path, to_svg(picture(explanation)))


def _write_chart(explanation: Explanation, path: Path) -> None:
    write_json(path, to_vega_lite(picture(explanation)))


_WRITERS: dict[str, Callable[[Explanation, Path], None]] = {
    ".vl.json": _write_chart,  # before the suffix that it ends in
    ".json": _write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}

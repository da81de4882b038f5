"""Report pages: one HTML file without network or scripts, light or dark as the reader's system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Protocol

from matchwork.files import write_text
from matchwork.report.altair import Chart
from matchwork.report.drawing import to_live_html, to_svg
from matchwork.report.highlight import Stretch, Values, marked_text
from matchwork.report.numbers import Cell, cell_text, is_numeric

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --soft: #5b6570; --line: #d5dae0;
  --page: #fff; --band: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #9aa4af; --line: #3a424b;
  --page: #15191e; --band: #1d2329; } }
body { font: 16px/1.55 system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;
  color: var(--ink); background: var(--page); max-width: 60rem; margin: 2.5rem auto;
  padding: 0 1.25rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
small, caption, figcaption { color: var(--soft); font-size: .87rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .35rem; }
th, td { padding: .3rem .8rem; text-align: left; border-bottom: 1px solid var(--line); }
th { border-bottom: 2px solid var(--line); font-weight: 600; }
tbody tr:nth-child(even) { background: var(--band); }
.number { text-align: right; }
.scroll, figure { overflow-x: auto; margin: 1rem 0; }
/* Letters may be wider here than where a chart was laid out. */
figure { padding-left: .8rem; }
figure svg { overflow: visible; }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


class Section(Protocol):
    """A part of a page."""

    def html(self) -> str:
        """Return the part as HTML, all text escaped."""
        ...


@dataclass(frozen=True)
class Heading:
    """A heading below the title of the page."""

    text: str

    def html(self) -> str:
        """Return an `<h2>`."""
        return f"<h2>{escape(self.text)}</h2>"


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str

    def html(self) -> str:
        """Return a `<p>`."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True)
class Table:
    """Rows under a header; columns of numbers are aligned to the right.

    Args:
        header: Column names.
        rows: Cells, as many in each row as there are column names.
        caption: A line above the table.
        note: A line below it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"row {number} has {len(row)} cells, the header {len(self.header)}: {row!r}"
                )

    def html(self) -> str:
        """Return a `<table>` that scrolls when it is wider than the page."""
        texts = [[cell_text(cell) for cell in row] for row in self.rows]
        numeric = [all(is_numeric(row[i]) for row in texts) for i in range(len(self.header))]
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        head = _row("th", self.header, numeric)
        body = "\n".join(_row("td", row, numeric) for row in texts)
        return (
            f"<div class='scroll'><table>{caption}<thead>{head}</thead>\n"
            f"<tbody>{body}</tbody></table></div>"
            + (f"<p><small>{escape(self.note)}</small></p>" if self.note else "")
        )


@dataclass(frozen=True)
class Figure:
    """A chart as a drawing.

    Args:
        chart: What to draw.
        caption: A line below the drawing.
        live: Whether it has tooltips; at most one figure of a page can.
    """

    chart: Chart
    caption: str = ""
    live: bool = False

    def html(self) -> str:
        """Return a `<figure>`."""
        drawing = to_live_html(self.chart) if self.live else to_svg(self.chart)
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{drawing}{caption}</figure>"


@dataclass(frozen=True)
class MarkedText:
    """A text with its words marked by their values.

    Args:
        text: The text.
        tokens: Its words.
        values: Array, shape (words,).
        caption: A line above the text.
    """

    text: str
    tokens: Sequence[Stretch]
    values: Values
    caption: str

    def html(self) -> str:
        """Return the text below its caption."""
        marked = marked_text(self.text, self.tokens, self.values)
        return f"<p><small>{escape(self.caption)}</small></p><div>{marked}</div>"


def report_html(title: str, sections: Iterable[Section]) -> str:
    """Return a page as HTML."""
    body = "\n".join(section.html() for section in sections)
    return _PAGE.format(title=escape(title), style=_STYLE, body=body)


def write_report(path: str | Path, title: str, sections: Iterable[Section]) -> None:
    """Write a page, all of it or nothing.

    Args:
        path: An HTML file.
        title: Heading and title of the page.
        sections: Its parts, in order.
    """
    write_text(path, report_html(title, sections))


def _row(tag: str, cells: Sequence[str], numeric: Sequence[bool]) -> str:
    parts = [
        f"<{tag}{' class=number' if right else ''}>{escape(cell)}</{tag}>"
        for cell, right in zip(cells, numeric, strict=True)
    ]
    return f"<tr>{''.join(parts)}</tr>"

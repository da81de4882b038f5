"""Report pages: one HTML file without network or scripts, light or dark as the reader's system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Protocol

from matchwork.files import write_text
from matchwork.report.altair import Chart
from matchwork.report.drawing import to_live_html, to_svg
from matchwork.report.highlight import Stretch, Values, marked_text
from matchwork.report.numbers import Cell, cell_text, is_numeric

_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


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
    """Rows under a header, with a caption above and a note below; numbers align right."""

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
    """A chart as a drawing, or `live` with tooltips, which at most one figure of a page can be."""

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
    """A text below its caption, its words marked by their values, shape (words,)."""

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
    return _PAGE.substitute(title=escape(title), body=body)


def write_report(path: str | Path, title: str, sections: Iterable[Section]) -> None:
    """Write a page of sections to an HTML file, all of it or nothing."""
    write_text(path, report_html(title, sections))


def _row(tag: str, cells: Sequence[str], numeric: Sequence[bool]) -> str:
    parts = [
        f"<{tag}{' class=number' if right else ''}>{escape(cell)}</{tag}>"
        for cell, right in zip(cells, numeric, strict=True)
    ]
    return f"<tr>{''.join(parts)}</tr>"

"""Views: every way to look at an explanation, listed once for the terminal, pages and pictures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field

from matchwork.registry import Registry
from matchwork.report.altair import Chart
from matchwork.report.numbers import cell_text
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table

if TYPE_CHECKING:
    from matchwork.explain.explanation import Explanation

MAX_WORDS = 50  # per side, in a picture that has to fit a page
MAX_PAGE_WORDS = 400  # a page scrolls; with more a browser grows slow

TokenIndex = Annotated[int, Field(ge=0, description="Index of the token, from 0.")]
Tables: TypeAlias = Callable[["Explanation", int | None], Sequence[Table]]
Charts: TypeAlias = Callable[["Explanation", int], Sequence[Chart]]
Notes: TypeAlias = Callable[["Explanation"], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class View:
    """One way to look at an explanation; all parts but the title are optional.

    Every part is a function of the explanation that returns nothing where the view does not
    apply. A view is shown once it is in `VIEWS`, which may be done from any package.

    Args:
        title: Heading on a page; title of tables without a caption in a terminal.
        order: Views are shown by rising order; the built-in ones have multiples of 10.
        tables: (explanation, top_k) -> tables for terminal, page and service. `top_k` limits the
            rows; None stands for as many as a page holds.
        charts: (explanation, max_words) -> charts for page and picture.
        notes: explanation -> sentences below the tables.
        data: explanation -> the entry of this name in the JSON file, None for no entry.
        schema: Type of that entry, from which the JSON Schema is made.
        page: explanation -> sections of the page, instead of charts, tables and notes.
        picture: (explanation, max_words) -> charts of the picture, instead of `charts`.
    """

    title: str
    order: int = 1000
    tables: Tables = lambda explanation, top_k: ()
    charts: Charts = lambda explanation, max_words: ()
    notes: Notes = lambda explanation: ()
    data: Callable[["Explanation"], Any] = lambda explanation: None
    schema: Any = None
    page: Callable[["Explanation"], Sequence[Section]] | None = None
    picture: Charts | None = None

    def sections(self, explanation: "Explanation") -> Sequence[Section]:
        """Return the sections of a report page, none where the view does not apply."""
        if self.page is not None:
            return self.page(explanation)
        body: list[Section] = [Figure(c) for c in self.charts(explanation, MAX_PAGE_WORDS)]
        body += self.tables(explanation, None)
        body += map(Paragraph, self.notes(explanation))
        return [Heading(self.title), *body] if body else []

    def drawings(self, explanation: "Explanation", max_words: int) -> Sequence[Chart]:
        """Return the charts of a picture."""
        return (self.picture or self.charts)(explanation, max_words)


def chart_if_any(draw: Callable[["Explanation", int], Chart | None]) -> Charts:
    """Return charts of a view from a function that returns one chart or None."""
    return lambda explanation, max_words: list(filter(None, [draw(explanation, max_words)]))


VIEWS: Registry[View] = Registry("view")


def views() -> Iterator[tuple[str, View]]:
    """Yield the name of every view and the view, in the order in which they are shown."""
    yield from sorted(((name, VIEWS[name]) for name in VIEWS), key=lambda item: item[1].order)


def view_data(explanation: "Explanation") -> dict[str, Any]:
    """Return the entries that the views add to the JSON of an explanation."""
    return {name: value for name, view in views() if (value := view.data(explanation))}


def view_tables(explanation: "Explanation", top_k: int = 10) -> list[Mapping[str, Any]]:
    """Return tables and notes of every view as plain values, for a page that draws them itself.

    For each view that applies: `name`, `title`, `tables` (`caption`, `header`, at most `top_k`
    `rows` of texts, `note`) and `notes`.
    """
    found: list[Mapping[str, Any]] = []
    for name, view in views():
        tables, notes = view.tables(explanation, top_k), list(view.notes(explanation))
        if tables or notes:
            plain = [
                {
                    "caption": table.caption,
                    "header": list(table.header),
                    "rows": [[cell_text(cell) for cell in row] for row in table.rows],
                    "note": table.note,
                }
                for table in tables
            ]
            found.append({"name": name, "title": view.title, "tables": plain, "notes": notes})
    return found

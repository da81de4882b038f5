"""Tables for a terminal, built with rich."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from matchwork.report.numbers import Cell, Meter, cell_text, is_numeric

COLUMN_GAP = 3  # letters between two columns
SHORT = 24  # texts up to this length are never broken into lines


def grids(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell | Text]],
    width: int,
    max_width: Mapping[str, int] | None = None,
) -> list[Table]:
    """Return a table for a screen of `width` letters.

    Columns of numbers are aligned to the right and never cut. A table of numbers that is wider
    than the screen comes in parts, each with the first column.
    `max_width` is column name -> most letters per line of its cells.
    """
    columns = [[_as_text(row[position]) for row in rows] for position in range(len(header))]
    numeric = [
        bool(position) and all(is_numeric(cell.plain) for cell in column)
        for position, column in enumerate(columns)
    ]
    parts = [list(range(len(header)))]
    if all(numeric[1:]):
        parts = _parts([_width(*column) for column in zip(header, columns, strict=True)], width)
    return [_grid(part, header, columns, numeric, max_width or {}) for part in parts]


def _grid(
    part: Sequence[int],
    header: Sequence[str],
    columns: Sequence[Sequence[Text]],
    numeric: Sequence[bool],
    max_width: Mapping[str, int],
) -> Table:
    grid = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for position in part:
        grid.add_column(
            header[position],
            justify="right" if numeric[position] else "left",
            no_wrap=numeric[position] or _is_short(columns[position]),
            max_width=max_width.get(header[position]),
            overflow="fold",
        )
    for row in zip(*(columns[position] for position in part), strict=True):
        grid.add_row(*row)
    return grid


def _as_text(cell: Cell | Text) -> Text:
    """Return a cell as plain text, never as markup: a document may hold brackets."""
    if isinstance(cell, Text):
        return cell
    style = ""
    if isinstance(cell, Meter):
        style = "blue" if cell.share >= 0 else "yellow"
    return Text(cell_text(cell), style=style)


def _is_short(column: Sequence[Text]) -> bool:
    return max((len(cell.plain) for cell in column), default=0) <= SHORT


def _width(name: str, column: Sequence[Text]) -> int:
    return max(cell_len(name), *(cell.cell_len for cell in column), 0) + COLUMN_GAP


def _parts(widths: Sequence[int], screen: int) -> list[list[int]]:
    """Return the columns of each part; the first column is in all of them."""
    parts, used = [[0]], widths[0]
    for position, width in enumerate(widths[1:], start=1):
        if used + width > screen and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0]
        parts[-1].append(position)
        used += width
    return parts

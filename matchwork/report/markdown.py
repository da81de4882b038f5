"""Tables in Markdown."""

from collections.abc import Sequence

from matchwork.report.numbers import Cell, cell_text


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], align: str = ""
) -> list[str]:
    """Return the lines of a Markdown table; `align` has "l" or "r" for each column."""
    rule = "".join("--:|" if letter == "r" else "---|" for letter in align or "l" * len(header))
    return [_line(header), f"|{rule}", *map(_line, rows)]


def _line(cells: Sequence[Cell]) -> str:
    return f"| {' | '.join(map(cell_text, cells))} |"

"""How results reach people and programs: tables, JSON, notes, progress.

Results go to stdout; notes, spinners and bars to stderr, so that a pipe carries results only.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

Cell: TypeAlias = str | int | float | Text | None
MISSING = "–"
COLUMN_GAP = 3  # letters between two columns
SHORT = 24  # letters that are never broken into lines


def out() -> Console:
    """Where results are printed."""
    return Console(highlight=False)


def err() -> Console:
    """Where everything else is printed."""
    return Console(stderr=True, highlight=False)


def cuts(scorer: object, said: Callable[[str], None] | None = None) -> None:
    """How much of texts that were too long for a matcher it has not read, if there were any."""
    cut = getattr(scorer, "truncation", None)
    if cut and cut.texts:
        (said or note)(str(cut))


def as_json(value: object) -> None:
    """The result for programs, alone on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    title: str = "",
    note: str = "",
    max_width: Mapping[str, int] | None = None,
) -> None:
    """Rows under a header; columns of numbers are aligned to the right and never cut.

    A table of numbers that is wider than the screen is printed in parts, each with the first
    column.
    """
    columns = [[_as_text(row[position]) for row in rows] for position in range(len(header))]
    numeric = [bool(position) and all(map(_is_number, c)) for position, c in enumerate(columns)]
    parts = [list(range(len(header)))]
    if all(numeric[1:]):
        parts = _parts([_width(*column) for column in zip(header, columns, strict=True)])
    for part in parts:
        grid = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for position in part:
            grid.add_column(
                header[position],
                justify="right" if numeric[position] else "left",
                no_wrap=numeric[position] or _is_short(columns[position]),
                max_width=(max_width or {}).get(header[position]),
                overflow="fold",
            )
        for row in range(len(rows)):
            grid.add_row(*(columns[position][row] for position in part))
        if title and part is parts[0]:
            line(f"\n{title}", "bold")
        out().print(grid)
    if note:
        line(note, "dim")


def _is_short(column: Sequence[Text]) -> bool:
    """Names, which are unreadable in pieces."""
    return max((len(cell.plain) for cell in column), default=0) <= SHORT


def _width(name: str, column: Sequence[Text]) -> int:
    return max(cell_len(name), *(cell.cell_len for cell in column), 0) + COLUMN_GAP


def _parts(widths: Sequence[int]) -> list[list[int]]:
    """Which columns stand side by side, the first one always among them."""
    parts, used = [[0]], widths[0]
    for position, width in enumerate(widths[1:], start=1):
        if used + width > out().width and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0]
        parts[-1].append(position)
        used += width
    return parts


def line(text: str = "", style: str = "") -> None:
    """One line (or paragraph) of a result."""
    out().print(Text(text, style=style), soft_wrap=True)


def note(text: str, style: str = "dim") -> None:
    """A remark beside the results."""
    err().print(Text(text, style=style), soft_wrap=True)


def error(message: str) -> None:
    """What went wrong, in one paragraph."""
    err().print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """A spinner while the block runs; call what it gives to change the text."""
    if not err().is_terminal:
        yield lambda message: None
        return
    with err().status(Text(text)) as status:
        yield lambda message: status.update(Text(message))


def interval(low: float, high: float) -> str:
    """A confidence interval."""
    return f"[{low:.4f}, {high:.4f}]"


def p_value(p: float) -> str:
    """A p-value to four places; what is smaller is said to be so."""
    return "< .0001" if p < 1e-4 else f"{p:.4f}"


def signed(difference: float) -> str:
    """A difference with its sign."""
    return f"{difference:+.4f}"


def shortened(text: str, length: int = 200) -> str:
    """The start of a text on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 1]}…"


def _as_text(cell: Cell) -> Text:
    """Cells are never markup: a document may hold brackets."""
    if isinstance(cell, Text):
        return cell
    if cell is None:
        return Text(MISSING)
    if isinstance(cell, float):
        return Text(f"{cell:.4f}")
    return Text(f"{cell:,}" if isinstance(cell, int) else cell)


def _is_number(cell: Text) -> bool:
    """Numbers, and text made of them: "12 %", "[.45, .49]", "+0.0213"; nothing counts as one."""
    letters = cell.plain.strip(f" {MISSING}")
    return not letters or (
        any(letter.isdigit() for letter in letters) and not any(map(str.isalpha, letters))
    )

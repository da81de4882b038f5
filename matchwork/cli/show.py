"""Printing: results to stdout; notes, spinners and bars to stderr, so that pipes stay clean."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from matchwork.report.console import grids
from matchwork.report.numbers import Cell


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False)


def err() -> Console:
    """Return the console for everything else."""
    return Console(stderr=True, highlight=False)


@contextmanager
def cuts() -> Iterator[None]:
    """Say afterwards how much of texts that were too long was cut off inside the block."""
    from matchwork.inputs import recorded_truncation

    with recorded_truncation() as cut:
        yield
    if cut.total.texts:
        note(str(cut.total))


def as_json(value: object) -> None:
    """Print a result as JSON on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell | Text]],
    title: str = "",
    note: str = "",
    max_width: Mapping[str, int] | None = None,
) -> None:
    """Print rows under a header, between title and note; `max_width` is column -> letters."""
    if title:
        line(f"\n{title}", "bold")
    for grid in grids(header, rows, out().width, max_width):
        out().print(grid)
    if note:
        line(note, "dim")


def line(text: str = "", style: str = "") -> None:
    """Print one line (or paragraph) of a result."""
    out().print(Text(text, style=style), soft_wrap=True)


def note(text: str, style: str = "dim") -> None:
    """Print a remark to stderr."""
    err().print(Text(text, style=style), soft_wrap=True)


def error(message: str) -> None:
    """Print an error to stderr."""
    err().print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner while the block runs; it yields a function that changes the text."""
    if not err().is_terminal:
        yield lambda message: None
        return
    with err().status(Text(text)) as status:
        yield lambda message: status.update(Text(message))

"""Bars and counters on stderr; imported late, so that short commands start quickly."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from matchwork.cli import show

Advance: TypeAlias = Callable[[int], None]
Bar: TypeAlias = Callable[[int, int], None]
"""Moves a bar: number done, and total."""


@contextmanager
def counting(unit: str) -> Iterator[Advance]:
    """Show a counter with its speed; the block receives a function that advances it."""
    count = TextColumn(f"{{task.completed:,.0f}} {unit}")
    with _progress(SpinnerColumn(), count, _Speed()) as progress:
        task = progress.add_task("", total=None)
        yield lambda number: progress.advance(task, number)


@contextmanager
def stage(text: str) -> Iterator[Bar]:
    """Show a stage of the work; a bar of pairs if the callback is called."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _Pairs())
    with _progress(*columns) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _bar(unit: str) -> Iterator[Bar]:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with _progress(*columns) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


def scoring() -> AbstractContextManager[Bar]:
    """Show a bar for scoring; the block receives a function of pairs done and their number."""
    return _bar("pairs")


def batches() -> AbstractContextManager[Bar]:
    """Show a bar for the batches of an epoch, whose number may be unknown (0)."""
    return _bar("batches")


def seeds() -> AbstractContextManager[Bar]:
    """Show a bar for the seeds of several experiments."""
    return _bar("seeds")


def _progress(*columns: ProgressColumn) -> Progress:
    return Progress(
        *columns, console=show.err(), transient=True, disable=not show.err().is_terminal
    )


class _Speed(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class _Pairs(MofNCompleteColumn):
    """Pairs done of all pairs, once their number is known."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task).append(" pairs")

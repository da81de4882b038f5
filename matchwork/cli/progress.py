"""Bars and counters on stderr while something long runs; kept apart for a quick start."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def counting(unit: str) -> Iterator[Advance]:
    """A counter with its speed while the block runs; advance it by a number."""
    count = TextColumn(f"{{task.completed:,.0f}} {unit}")
    with _progress(SpinnerColumn(), count, _Speed()) as progress:
        task = progress.add_task("", total=None)
        yield lambda number: progress.advance(task, number)


@contextmanager
def scoring() -> Iterator[Callable[[int, int], None]]:
    """A bar for work that reports how many pairs are done, and of how many."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("pairs"), TimeRemainingColumn())
    with _progress(*columns) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def stage(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show a stage of the work; a bar of pairs if the callback is called."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _Pairs())
    with _progress(*columns) as progress:
        task = progress.add_task(text, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def batches() -> Iterator[Callable[[int, int], None]]:
    """A bar for the batches of an epoch; how many there are may not be known (0)."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("batches"), TimeRemainingColumn())
    with _progress(*columns) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


def say_how_to_go_on(kind: type[BaseException] | None) -> None:
    """After a training that was stopped by `kind`, if it was."""
    if kind in (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
        show.note("stopped; the same command with --resume continues")


def _progress(*columns: ProgressColumn) -> Progress:
    return Progress(
        *columns, console=show.err(), transient=True, disable=not show.err().is_terminal
    )


class _Speed(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")


class _Pairs(MofNCompleteColumn):
    """Pairs done of all pairs, once their number is known."""

    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task).append(" pairs")

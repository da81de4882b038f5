"""Progress bars and counters on stderr; a module of its own, so that commands start quickly."""

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
    """Show a counter with its speed; yields a function that advances it by a number."""
    count = TextColumn(f"{{task.completed:,.0f}} {unit}")
    with _progress(SpinnerColumn(), count, _Speed()) as progress:
        task = progress.add_task("", total=None)
        yield lambda number: progress.advance(task, number)


@contextmanager
def scoring() -> Iterator[Callable[[int, int], None]]:
    """Show a bar for scoring; yields a function of the number of pairs done and their total."""
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
    """Show a bar for the batches of an epoch; yields a function of done and total (0: unknown)."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("batches"), TimeRemainingColumn())
    with _progress(*columns) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


def say_how_to_go_on(kind: type[BaseException] | None) -> None:
    """Print how to continue if training was stopped by an exception of type `kind`."""
    if kind in (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
        show.note("stopped; the same command with --resume continues")


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

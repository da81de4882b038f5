"""Progress on stderr: counters, bars, training; imported late, so that commands start quickly."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType

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
from matchwork.experiment.outcome import Observer, SeedOutcome
from matchwork.types import Advance
from matchwork.types import Progress as Bar

_NOT_MEASURES = ("epoch", "best", "seconds")


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


class Watcher(Observer):
    """Shows progress on stderr; use it as a context.

    A single experiment has a line for each part of the work and for each epoch. A queue of several
    has a line for each seed, above a bar for all seeds.

    Args:
        quiet: Whether to show nothing.
        unit: Noun for several experiments ("combinations").
    """

    def __init__(self, quiet: bool = False, unit: str = "recipes") -> None:
        self.quiet, self.unit = quiet, unit
        self.bar = not quiet and show.err().is_terminal
        self._is_queue, self._done, self._total = False, 0, 0
        self._stack = ExitStack()
        self._update: Bar | None = None

    def begin(self, num_experiments: int, num_seeds: int, num_done: int) -> None:
        """Choose between the two forms; say how much there is to do."""
        self._is_queue, self._total = num_experiments > 1, num_seeds
        if not self._is_queue:
            return
        self.bar = False
        self._say(f"{num_seeds} seeds to train")
        if num_done:
            self._say(f"{num_done} {self.unit} have a result already")
        self._move("seeds", 0, num_seeds)

    def stage(self, text: str) -> None:
        """Name the new part of the work."""
        if not self._is_queue:
            self._stop()
            self._say(f"› {text}", style="bold")

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """Print the numbers of an epoch on one line."""
        self._print_epoch(f"seed {seed}", record)

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        """Print the numbers of an epoch of a stage on one line."""
        self._print_epoch(f"seed {seed}  {name}", record)

    def _print_epoch(self, title: str, record: Mapping[str, float]) -> None:
        if self.quiet or self._is_queue:
            return
        numbers = "  ".join(
            f"{name} {value:.4f}" for name, value in record.items() if name not in _NOT_MEASURES
        )
        best = "  ← best so far" if record.get("best") else ""
        # Through sys.stderr, which Lightning's bar redirects to the lines above itself.
        sys.stderr.write(
            f"  {title}  epoch {record['epoch']:g}  {numbers}  "
            f"{record.get('seconds', 0.0):.1f} s{best}\n"
        )

    def batch(self, done: int, total: int) -> None:
        """Move the bar of a stage, which remains until the next part of the work."""
        if not self._is_queue:
            self._move("batches", done, total)

    def progress(self, done: int, total: int) -> None:
        """Move the bar of scoring, and remove it when it is full."""
        if not self._is_queue:
            self._move("pairs", done, total)
            if done >= total:
                self._stop()

    def seed(self, label: str, outcome: SeedOutcome) -> None:
        """Print the outcome of a seed on one line."""
        if self._is_queue:
            self._done += 1
            self._move("seeds", self._done, self._total)
            dev = "" if outcome.dev is None else f"  dev {outcome.dev:.4f}"
            self._say(
                f"{label}  seed {outcome.seed}  best epoch {outcome.best_epoch}{dev}  "
                f"{outcome.seconds:.0f} s"
            )

    def failed(self, label: str, message: str) -> None:
        """Print an error at once if other experiments go on."""
        if self._is_queue:
            self._say(f"failed: {label}: {message}", style="")

    def _say(self, text: str, style: str = "") -> None:
        if not self.quiet:
            show.note(text, style=style)

    def _move(self, unit: str, done: int, total: int) -> None:
        if self.quiet:
            return
        if self._update is None:
            self._update = self._stack.enter_context(_bar(unit))
        self._update(done, total)

    def _stop(self) -> None:
        self._stack.close()
        self._update = None

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        if kind in (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
            show.note("stopped; the same command with --resume continues")

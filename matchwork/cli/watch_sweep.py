"""Shows a sweep while it happens; imported only by the command that runs one."""

from contextlib import ExitStack
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from matchwork.cli import show
from matchwork.experiment.seed import SeedOutcome
from matchwork.experiment.sweep import Combination
from matchwork.experiment.sweep_run import SweepObserver


class SweepWatcher(SweepObserver):
    """A line for each seed that ends, above one bar for them all; use it as a context."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        console = show.err()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("seeds"), TimeRemainingColumn())
        hidden = quiet or not console.is_terminal
        self._bar = Progress(
            *columns,
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=hidden,
        )
        self._task = self._bar.add_task("", total=None)
        self._stack = ExitStack()

    def begin(self, num_seeds: int, num_kept: int) -> None:
        """How much there is to do."""
        self._bar.update(self._task, total=num_seeds)
        self._say(f"{num_seeds} seeds to train")
        if num_kept:
            self._say(f"{num_kept} combinations have a result already")

    def stage(self, text: str) -> None:
        """What the program itself is at."""
        self._bar.update(self._task, description=text)

    def seed(self, combination: Combination, outcome: SeedOutcome) -> None:
        """The seed on one line."""
        self._bar.advance(self._task)
        dev = "" if outcome.dev is None else f"  dev {outcome.dev:.4f}"
        self._say(
            f"{combination.label}  seed {outcome.seed}  best epoch {outcome.best_epoch}{dev}  "
            f"{outcome.seconds:.0f} s"
        )

    def failed(self, combination: Combination, message: str) -> None:
        """What went wrong, at once."""
        self._say(f"failed: {combination.label}: {message}")

    def _say(self, text: str) -> None:
        if not self.quiet:
            self._bar.console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> "SweepWatcher":
        self._stack.enter_context(self._bar)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
        if kind in (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
            show.note("stopped; the same command with --resume continues")

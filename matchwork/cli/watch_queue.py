"""Shows many experiments while they happen; imported only by commands that train."""

from contextlib import ExitStack
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from matchwork.cli import show
from matchwork.cli.progress import say_how_to_go_on
from matchwork.experiment.outcome import SeedOutcome
from matchwork.experiment.queue import QueueObserver


class QueueWatcher(QueueObserver):
    """A line for each seed that ends, above one bar for them all; use it as a context.

    `what` are the experiments: "combinations", "recipes".
    """

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
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
            self._say(f"{num_kept} {self.what} have a result already")

    def stage(self, text: str) -> None:
        """What the program itself is at."""
        self._bar.update(self._task, description=text)

    def seed(self, label: str, outcome: SeedOutcome) -> None:
        """The seed on one line."""
        self._bar.advance(self._task)
        dev = "" if outcome.dev is None else f"  dev {outcome.dev:.4f}"
        self._say(
            f"{label}  seed {outcome.seed}  best epoch {outcome.best_epoch}{dev}  "
            f"{outcome.seconds:.0f} s"
        )

    def failed(self, label: str, message: str) -> None:
        """What went wrong, at once."""
        self._say(f"failed: {label}: {message}")

    def _say(self, text: str) -> None:
        if not self.quiet:
            self._bar.console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> "QueueWatcher":
        self._stack.enter_context(self._bar)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
        say_how_to_go_on(kind)

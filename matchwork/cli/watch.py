"""Shows a training run while it happens; imported only by commands that train."""

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType

from matchwork.cli import show
from matchwork.cli.progress import scoring
from matchwork.experiment import Observer

_OWN_FORM = ("epoch", "best", "seconds")


class Watcher(Observer):
    """Stages and epochs as lines on stderr, scoring as a bar; use it as a context."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.bar = not quiet and show.err().is_terminal
        self._scoring = ExitStack()
        self._update: Callable[[int, int], None] | None = None

    def stage(self, text: str) -> None:
        """Name the new part of the work."""
        self._stop()
        if not self.quiet:
            show.note(f"› {text}", style="bold")

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """The numbers of an epoch on one line."""
        if not self.quiet:
            numbers = "  ".join(
                f"{name} {value:.4f}" for name, value in record.items() if name not in _OWN_FORM
            )
            best = "  ← best so far" if record.get("best") else ""
            # Through sys.stderr, which Lightning's bar redirects to the lines above itself.
            sys.stderr.write(
                f"  seed {seed}  epoch {record['epoch']:g}  {numbers}  "
                f"{record.get('seconds', 0.0):.1f} s{best}\n"
            )

    def progress(self, done: int, total: int) -> None:
        """Move the bar, which stands only while something is being scored."""
        if self.quiet:
            return
        if self._update is None:
            self._update = self._scoring.enter_context(scoring())
        self._update(done, total)
        if done >= total:
            self._stop()

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

    def _stop(self) -> None:
        self._scoring.close()
        self._update = None

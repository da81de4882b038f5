"""Shows a training run while it happens; imported only by commands that train."""

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import TypeAlias

from matchwork.cli import show
from matchwork.cli.progress import batches, say_how_to_go_on, scoring
from matchwork.experiment import Observer

Bar: TypeAlias = Callable[[], AbstractContextManager[Callable[[int, int], None]]]
_OWN_FORM = ("epoch", "best", "seconds")


class Watcher(Observer):
    """Parts of the work and epochs as lines on stderr, under them a bar; use it as a context."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.bar = not quiet and show.err().is_terminal
        self._bar = ExitStack()
        self._update: Callable[[int, int], None] | None = None

    def stage(self, text: str) -> None:
        """Name the new part of the work."""
        self._stop()
        if not self.quiet:
            show.note(f"› {text}", style="bold")

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """The numbers of an epoch on one line."""
        self._say_epoch(f"seed {seed}", record)

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        """The same of a stage."""
        self._say_epoch(f"seed {seed}  {name}", record)

    def _say_epoch(self, whose: str, record: Mapping[str, float]) -> None:
        if not self.quiet:
            numbers = "  ".join(
                f"{name} {value:.4f}" for name, value in record.items() if name not in _OWN_FORM
            )
            best = "  ← best so far" if record.get("best") else ""
            # Through sys.stderr, which Lightning's bar redirects to the lines above itself.
            sys.stderr.write(
                f"  {whose}  epoch {record['epoch']:g}  {numbers}  "
                f"{record.get('seconds', 0.0):.1f} s{best}\n"
            )

    def batch(self, done: int, total: int) -> None:
        """Move the bar of a stage, which stands until the next part of the work."""
        self._move(batches, done, total)

    def progress(self, done: int, total: int) -> None:
        """Move the bar, which stands only while something is being scored."""
        self._move(scoring, done, total)
        if done >= total:
            self._stop()

    def _move(self, bar: Bar, done: int, total: int) -> None:
        if self.quiet:
            return
        if self._update is None:
            self._update = self._bar.enter_context(bar())
        self._update(done, total)

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        say_how_to_go_on(kind)

    def _stop(self) -> None:
        self._bar.close()
        self._update = None

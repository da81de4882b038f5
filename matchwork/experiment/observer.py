"""Who is told how a run goes on."""

from collections.abc import Mapping


class Observer:
    """Told what happens during a run; this one keeps quiet."""

    bar = False

    def stage(self, text: str) -> None:
        """A new part of the work begins."""

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """An epoch ended."""

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        """An epoch of the stage of that name ended."""

    def batch(self, done: int, total: int) -> None:
        """So many batches of an epoch of a stage are done; a `total` of 0 is not known."""

    def progress(self, done: int, total: int) -> None:
        """So many pairs are scored."""

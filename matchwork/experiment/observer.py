"""Progress callbacks of experiments."""

from collections.abc import Mapping

from matchwork.experiment.outcome import SeedOutcome


class Observer:
    """Receives the progress of one or several experiments; this one ignores it.

    Attributes:
        bar: Whether training shows a progress bar of its own.
    """

    bar = False

    def begin(self, num_experiments: int, num_seeds: int, num_done: int) -> None:
        """Receive the number of experiments, of seeds to train and of experiments that are done."""

    def stage(self, text: str) -> None:
        """Receive the name of the next part of the work."""

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """Receive what was logged after an epoch."""

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        """Receive what was logged after an epoch of the stage `name`."""

    def batch(self, done: int, total: int) -> None:
        """Receive the number of batches done in an epoch of a stage; `total` is 0 if unknown."""

    def progress(self, done: int, total: int) -> None:
        """Receive the number of pairs scored."""

    def seed(self, label: str, outcome: SeedOutcome) -> None:
        """Receive the outcome of a seed of the experiment `label`."""

    def failed(self, label: str, message: str) -> None:
        """Receive the error of an experiment, which will have no result."""

"""Passes the progress of one training run on to the observer of an experiment."""

from collections.abc import Mapping

from matchwork.experiment.outcome import Observer
from matchwork.train.run import TrainObserver


class SeedObserver(TrainObserver):
    """Passes the progress of one training run on to the observer of an experiment."""

    def __init__(self, observer: Observer, seed: int, dev: str = "dev") -> None:
        self._observer, self._seed, self._dev = observer, seed, dev

    def begin_stage(self, name: str, number: int, total: int, reused: bool) -> None:
        """Report the stage by its number."""
        verb = "reusing" if reused else "training"
        self._observer.stage(f"{verb} stage {name} ({number} of {total}) of seed {self._seed}")

    def stage_batch(self, done: int, total: int) -> None:
        """Report the batches done."""
        self._observer.batch(done, total)

    def stage_epoch(self, name: str, record: Mapping[str, float]) -> None:
        """Report an epoch of a stage."""
        self._observer.stage_epoch(self._seed, name, record)

    def begin_model(self) -> None:
        """Report that the stages are done."""
        self._observer.stage(f"training the whole model of seed {self._seed}")

    def epoch(self, record: Mapping[str, float]) -> None:
        """Report an epoch."""
        self._observer.epoch(self._seed, record)

    def calibrate(self) -> None:
        """Report that training is done."""
        self._observer.stage(f"calibrating seed {self._seed} on {self._dev}")

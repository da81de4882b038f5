"""The interface between the queue of seeds and what trains them: here, in processes, on a cluster.

A scheduler is given jobs and returns what became of them, in any order. `matchwork` has two: one
trains in this process, one in a pool of local processes (`runner.local`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import SeedOutcome
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.train_seed import train_seed


@dataclass(frozen=True, eq=False)
class Job:
    """A seed to train.

    Args:
        label: Name of the experiment.
        prepared: The recipe with its data, shared by all seeds of the experiment.
        seed: The seed.
        folder: Folder for its matcher, runs and checkpoints.
        resume: Whether to go on from a checkpoint.
    """

    label: str
    prepared: Prepared
    seed: int
    folder: Path
    resume: bool


class WorkerKilled(Exception):
    """The process that trained a seed ended without an outcome, as when memory runs out."""


@dataclass(frozen=True)
class Finished:
    """A job that ended, with its outcome or the error that ended it."""

    job: Job
    outcome: SeedOutcome | Exception


class Scheduler(Protocol):
    """Trains jobs, `num_workers` at a time.

    Used as a context; leaving it by an exception starts no further job.
    """

    num_workers: int

    def submit(self, job: Job) -> None:
        """Add a job; it may start at once or wait."""
        ...

    def collect(self, wait: bool = True) -> list[Finished]:
        """Return the jobs that ended since the last call.

        Args:
            wait: Whether to wait until at least one job has ended, where none has.
        """
        ...

    def __enter__(self) -> "Scheduler": ...

    def __exit__(self, kind: type[BaseException] | None, /, *error: object) -> None: ...


class InProcess:
    """Trains each job in this process as it is submitted."""

    num_workers = 1

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._finished: list[Finished] = []

    def submit(self, job: Job) -> None:
        """Train the seed."""
        outcome: SeedOutcome | Exception
        try:
            outcome = train_seed(job.prepared, job.seed, job.folder, job.resume, self._observer)
        except Exception as error:  # handed on, as a worker process would
            outcome = error
        self._finished.append(Finished(job, outcome))

    def collect(self, wait: bool = True) -> list[Finished]:
        """Return what `submit` has trained."""
        finished, self._finished = self._finished, []
        return finished

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, /, *error: object) -> None:
        return None

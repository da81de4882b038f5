"""The queue of experiments: each is prepared, its seeds are trained, its result is made."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from matchwork.errors import ConfigError, MatchworkError, TrainingError
from matchwork.experiment.environment import commit
from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import SeedOutcome
from matchwork.experiment.prepare import Prepared, prepare, shares_data
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results.files import write_result
from matchwork.experiment.results.result import make_result
from matchwork.experiment.runner.scheduler import Finished, InProcess, Job, Scheduler, WorkerKilled
from matchwork.experiment.train_seed import OUTCOME
from matchwork.files import read_json, write_json

RESULT = "result.json"
"""The file of a result in the folder of an experiment; written when all its seeds are finished."""
_KILLED = (
    "the process of a seed was killed, perhaps for want of memory; try fewer --jobs, with "
    "--resume to keep what is finished"
)


@dataclass(frozen=True)
class Experiment:
    """A recipe to run.

    Args:
        label: Name of the experiment in messages and results.
        recipe: The recipe.
        folder: Folder for its seeds and its result.
    """

    label: str
    recipe: Recipe
    folder: Path

    def reserve(self, resume: bool) -> None:
        """Write the settings into the folder, so that it never holds two different runs.

        Raises:
            ConfigError: The folder holds other settings, or finished work without `resume`.
        """
        note = self.folder / "recipe.json"
        if note.exists() and any(self.folder.glob("seed-*")):  # else there is nothing to lose
            if changed := self.recipe.differences(read_json(note)["settings"]):
                raise ConfigError(
                    f"{self.folder} holds a run of other settings ({', '.join(changed)}); choose "
                    "another --out or delete it"
                )
            if not resume:
                raise ConfigError(
                    f"{self.folder} already holds this run; continue it with --resume, choose "
                    "another --out, or delete it"
                )
        write_json(note, {"name": self.recipe.name, "settings": self.recipe.to_dict()})

    def seed_folder(self, seed: int) -> Path:
        """Return the folder of a seed."""
        return self.folder / f"seed-{seed}"

    def finished(self, resume: bool) -> dict[int, SeedOutcome]:
        """Return the outcomes of seeds that were finished by an earlier run."""
        files = {seed: self.seed_folder(seed) / OUTCOME for seed in self.recipe.run.seeds}
        return {
            seed: SeedOutcome.from_dict(read_json(file))
            for seed, file in files.items()
            if resume and file.is_file()
        }


Keep: TypeAlias = Callable[[Experiment, dict[str, Any]], None]
"""Receives the result of an experiment as soon as its last seed is finished."""


def run_queue(
    experiments: Sequence[Experiment],
    keep: Keep,
    *,
    num_done: int = 0,
    data_root: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: Observer | None = None,
) -> dict[str, Exception]:
    """Run experiments; one that fails does not stop the others.

    The next experiment is prepared while seeds of the last are trained.

    Args:
        experiments: The experiments.
        keep: Receives each result.
        num_done: Number of experiments that have a result already.
        data_root: Folder that holds the catalogued data sets.
        resume: Whether to go on with seeds that were interrupted, and leave finished ones alone.
        jobs: Number of seeds to train at once, each in a process of its own.
        observer: Receives the progress.

    Returns:
        What went wrong, by the label of the experiment.
    """
    observer = observer or Observer()
    earlier = {one.label: one.finished(resume) for one in experiments}
    waiting = sum(len(one.recipe.run.seeds) - len(earlier[one.label]) for one in experiments)
    observer.begin(len(experiments) + num_done, waiting, num_done)
    with _scheduler(min(jobs, waiting), observer) as scheduler:
        queue = _Queue(keep, observer, scheduler, str(data_root) if data_root else None, resume)
        queue.alone = len(experiments) == 1
        for experiment in experiments:
            queue.start(experiment, earlier[experiment.label])
            while queue.num_waiting >= 2 * scheduler.num_workers:  # one each trains, one waits
                queue.collect()
        while queue.num_waiting:
            queue.collect()
    return queue.errors


def _scheduler(jobs: int, observer: Observer) -> Scheduler:
    if jobs <= 1:
        return InProcess(observer)
    from matchwork.experiment.runner.local import LocalPool

    return LocalPool(jobs, observer)


@dataclass
class _Run:
    """An experiment under way: its seeds that have an outcome, and when it began."""

    experiment: Experiment
    prepared: Prepared
    outcomes: dict[int, SeedOutcome]
    began: float
    earlier: float


class _Queue:
    def __init__(
        self,
        keep: Keep,
        observer: Observer,
        scheduler: Scheduler,
        data_root: str | None,
        resume: bool,
    ) -> None:
        self.num_waiting, self.alone = 0, False
        self.errors: dict[str, Exception] = {}
        self._keep, self._observer, self._scheduler = keep, observer, scheduler
        self._data_root, self._resume = data_root, resume
        self._runs: dict[str, _Run] = {}
        self._last: Prepared | None = None
        self._commit = commit()

    def start(self, experiment: Experiment, earlier: dict[int, SeedOutcome]) -> None:
        """Prepare an experiment and submit its seeds."""
        label, began = experiment.label, time.monotonic()
        try:
            prepared = self._prepare(experiment.recipe)
            seconds = sum(outcome.seconds for outcome in earlier.values())
            run = _Run(experiment, prepared, dict(earlier), began, seconds)
            self._runs[label] = run
            self._finish(run)
            for seed in experiment.recipe.run.seeds:
                if seed in earlier or label in self.errors:
                    continue
                folder = experiment.seed_folder(seed)
                self.num_waiting += 1
                self._scheduler.submit(Job(label, prepared, seed, folder, self._resume))
                self.collect(wait=False)
        except Exception as error:  # data that is missing, a disk that is full
            self._fail(label, error)

    def _prepare(self, recipe: Recipe) -> Prepared:
        if self._last is not None and not shares_data(self._last, recipe):
            self._last = None  # there may not be memory for two
        self._last = prepare(recipe, self._data_root, self._last, self._observer.stage)
        return self._last

    def collect(self, wait: bool = True) -> None:
        """Take in the seeds that ended."""
        for finished in self._scheduler.collect(wait):
            self.num_waiting -= 1
            try:
                self._take(finished)
            except Exception as error:  # whatever it was, the others go on
                self._fail(finished.job.label, error)

    def _take(self, finished: Finished) -> None:
        job, outcome = finished.job, finished.outcome
        if isinstance(outcome, WorkerKilled):
            raise TrainingError(_KILLED) from outcome
        if isinstance(outcome, Exception):
            raise outcome
        self._observer.seed(job.label, outcome)
        run = self._runs[job.label]
        run.outcomes[job.seed] = outcome
        self._finish(run)

    def _finish(self, run: _Run) -> None:
        """Make the result if all seeds are finished."""
        experiment, seeds = run.experiment, run.experiment.recipe.run.seeds
        if len(run.outcomes) < len(seeds):
            return
        del self._runs[experiment.label]
        outcomes = [run.outcomes[seed] for seed in seeds]
        seconds = sum(outcome.seconds for outcome in outcomes)
        if self.alone:  # the time of others is not among it
            seconds = run.earlier + time.monotonic() - run.began
        result = make_result(run.prepared, outcomes, seconds, self._commit)
        write_result(experiment.folder / RESULT, result)
        self._keep(experiment, result)

    def _fail(self, label: str, error: Exception) -> None:
        if label not in self.errors:
            self._observer.failed(label, message_of(error))
        self.errors[label] = error


def message_of(error: Exception) -> str:
    """Return the message of an error; one that is not ours is named."""
    named = isinstance(error, MatchworkError)
    return str(error) if named else f"{type(error).__name__}: {error}"

"""The queue of experiments: each is prepared, its seeds are trained, its result is made."""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from matchwork.errors import ConfigError, MatchworkError, TrainingError
from matchwork.experiment.environment import commit
from matchwork.experiment.outcome import Observer, SeedOutcome
from matchwork.experiment.prepare import Prepared, prepare, shares_data
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results.result import make_result, write_result
from matchwork.experiment.runner.seed import (
    OUTCOME,
    Finished,
    InProcess,
    Job,
    Scheduler,
    WorkerKilled,
)
from matchwork.files import read_json, write_json

RESULT = "result.json"
"""The file of a result in the folder of an experiment; written when all its seeds are finished."""
_KILLED = (
    "the process of a seed was killed, perhaps for want of memory; try fewer --jobs, with "
    "--resume to keep what is finished"
)


@dataclass(frozen=True)
class Experiment:
    """A recipe to run."""

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


@dataclass(frozen=True)
class Options:
    """Settings of a run of experiments."""

    data_root: str | Path | None = None
    resume: bool = False
    jobs: int = 1
    observer: Observer | None = None


Ended: TypeAlias = tuple[Experiment, dict[str, Any] | Exception]
"""An experiment that ended, with its result or the error that ended it."""


def run_queue(
    experiments: Sequence[Experiment], options: Options, num_done: int = 0
) -> Generator[Ended, None, None]:
    """Run experiments and yield each as it ends; one that fails does not stop the others.

    The next experiment is prepared while seeds of the last are trained. `num_done` is the number of
    further experiments that have a result already.
    """
    observer = options.observer or Observer()
    earlier = [one.finished(options.resume) for one in experiments]
    waiting = sum(len(one.recipe.run.seeds) for one in experiments) - sum(map(len, earlier))
    observer.begin(len(experiments) + num_done, waiting, num_done)
    with _scheduler(min(options.jobs, waiting), observer) as scheduler:
        queue = _Queue(options, observer, scheduler, alone=len(experiments) == 1)
        for experiment, outcomes in zip(experiments, earlier, strict=True):
            yield from queue.start(experiment, outcomes)
            while queue.num_waiting >= 2 * scheduler.num_workers:  # one each trains, one waits
                yield from queue.collect()
        while queue.num_waiting:
            yield from queue.collect()


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
        self, options: Options, observer: Observer, scheduler: Scheduler, alone: bool
    ) -> None:
        self.num_waiting = 0
        self._options, self._observer, self._scheduler = options, observer, scheduler
        self._alone = alone
        self._runs: dict[str, _Run] = {}
        self._failed: set[str] = set()
        self._last: Prepared | None = None
        self._commit = commit()

    def start(self, experiment: Experiment, earlier: dict[int, SeedOutcome]) -> Iterator[Ended]:
        """Prepare an experiment and submit its seeds."""
        label, began = experiment.label, time.monotonic()
        try:
            prepared = self._prepare(experiment.recipe)
            seconds = sum(outcome.seconds for outcome in earlier.values())
            run = _Run(experiment, prepared, dict(earlier), began, seconds)
            self._runs[label] = run
            yield from self._finish(run)
            for seed in experiment.recipe.run.seeds:
                if seed in earlier or label in self._failed:
                    continue
                folder, resume = experiment.seed_folder(seed), self._options.resume
                self.num_waiting += 1
                self._scheduler.submit(Job(label, prepared, seed, folder, resume))
                yield from self.collect(wait=False)
        except Exception as error:  # data that is missing, a disk that is full
            yield from self._fail(experiment, error)

    def _prepare(self, recipe: Recipe) -> Prepared:
        if self._last is not None and not shares_data(self._last, recipe):
            self._last = None  # there may not be memory for two
        data_root = self._options.data_root
        self._last = prepare(
            recipe, str(data_root) if data_root else None, self._last, self._observer.stage
        )
        return self._last

    def collect(self, wait: bool = True) -> Iterator[Ended]:
        """Take in the seeds that ended."""
        for finished in self._scheduler.collect(wait):
            self.num_waiting -= 1
            run = self._runs[finished.job.label]
            try:
                yield from self._take(run, finished)
            except Exception as error:  # whatever it was, the others go on
                yield from self._fail(run.experiment, error)

    def _take(self, run: _Run, finished: Finished) -> Iterator[Ended]:
        job, outcome = finished.job, finished.outcome
        if isinstance(outcome, WorkerKilled):
            raise TrainingError(_KILLED) from outcome
        if isinstance(outcome, Exception):
            raise outcome
        self._observer.seed(job.label, outcome)
        run.outcomes[job.seed] = outcome
        yield from self._finish(run)

    def _finish(self, run: _Run) -> Iterator[Ended]:
        """Make the result if all seeds are finished."""
        experiment, seeds = run.experiment, run.experiment.recipe.run.seeds
        if len(run.outcomes) < len(seeds):
            return
        outcomes = [run.outcomes[seed] for seed in seeds]
        seconds = sum(outcome.seconds for outcome in outcomes)
        if self._alone:  # else the seeds of others were trained meanwhile
            seconds = run.earlier + time.monotonic() - run.began
        result = make_result(run.prepared, outcomes, seconds, self._commit)
        write_result(experiment.folder / RESULT, result)
        del self._runs[experiment.label]
        yield experiment, result

    def _fail(self, experiment: Experiment, error: Exception) -> Iterator[Ended]:
        """Report an error; only the first of an experiment is yielded."""
        if experiment.label not in self._failed:
            self._failed.add(experiment.label)
            yield experiment, error


def message_of(error: Exception) -> str:
    """Return the message of an error, after the name of its class if it is not ours."""
    named = isinstance(error, MatchworkError)
    return str(error) if named else f"{type(error).__name__}: {error}"

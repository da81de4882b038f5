"""Many experiments, the seeds of several at once: trained, measured, and kept one by one."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from matchwork.errors import MatchworkError
from matchwork.experiment.environment import commit
from matchwork.experiment.lanes import NotBegun, lanes
from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import SeedOutcome
from matchwork.experiment.prepare import Prepared, prepare, shares_data
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.run import gather
from matchwork.experiment.side_by_side import KILLED, pack
from matchwork.experiment.train_seed import OUTCOME, train_seed
from matchwork.files import read_json

Submit: TypeAlias = Callable[[Prepared, int, Path], "Future[None]"]
"""Begins a seed, or lets it wait; one whose turn never came fails with `NotBegun`."""


@dataclass(frozen=True)
class Experiment:
    """A recipe, what people call it, and the folder of its seeds."""

    label: str
    recipe: Recipe
    folder: Path

    def waiting(self, resume: bool) -> list[int]:
        """The seeds to be trained: with `resume`, those that are not finished."""
        seeds = self.recipe.run.seeds
        return [s for s in seeds if not (resume and (self.seed_folder(s) / OUTCOME).exists())]

    def seed_folder(self, seed: int) -> Path:
        """Where one seed is trained and leaves its outcome."""
        return self.folder / f"seed-{seed}"


Keep: TypeAlias = Callable[[Experiment, dict[str, Any]], None]
"""Told the result of an experiment as soon as its last seed is finished."""


class QueueObserver:
    """Told how many experiments go on; this one keeps quiet."""

    def begin(self, num_seeds: int, num_kept: int) -> None:
        """So many seeds are to be trained; so many experiments need no work."""

    def stage(self, text: str) -> None:
        """A new part of the work begins."""

    def seed(self, label: str, outcome: SeedOutcome) -> None:
        """A seed of the experiment of that label is finished."""

    def failed(self, label: str, message: str) -> None:
        """An experiment will have no result."""


def train_all(
    experiments: Sequence[Experiment],
    keep: Keep,
    errors: dict[str, str],
    *,
    data_root: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: QueueObserver | None = None,
) -> None:
    """Train them, `jobs` seeds at a time; `errors` receives what went wrong, by label.

    The next experiment is prepared while seeds of the last are trained; one that fails does not
    stop the others.
    """
    root = str(data_root) if data_root else None
    waiting = sum(len(experiment.waiting(resume)) for experiment in experiments)
    jobs = max(1, min(jobs, waiting))  # seeds may all be finished, and only be gathered
    with _at_once(jobs, resume) if jobs > 1 else _in_turn(resume) as submit:
        queue = _Queue(keep, errors, observer or QueueObserver(), root, resume, submit)
        for experiment in experiments:
            queue.start(experiment)
            while len(queue.running) >= 2 * jobs:  # as many wait as run: nobody is idle
                queue.collect()
        while queue.running:
            queue.collect()


@contextmanager
def _in_turn(resume: bool) -> Iterator[Submit]:
    """Seeds are trained here, one after the other."""

    def submit(prepared: Prepared, seed: int, folder: Path) -> "Future[None]":
        future: Future[None] = Future()
        try:
            train_seed(prepared, seed, folder, resume, Observer())
        except Exception as error:  # as a process would hand it on
            future.set_exception(error)
        else:
            future.set_result(None)
        return future

    yield submit


@contextmanager
def _at_once(jobs: int, resume: bool) -> Iterator[Submit]:
    """Seeds are trained in processes, whichever experiment they belong to."""
    readers: dict[Path, list[Future[None]]] = {}
    with TemporaryDirectory(prefix="matchwork-") as shared, lanes(jobs) as begin:

        def submit(prepared: Prepared, seed: int, folder: Path) -> "Future[None]":
            parcel = Path(shared, f"{prepared.recipe.name}-{prepared.recipe.hash}.pickle")
            if parcel not in readers:
                for old in [old for old, seeds in readers.items() if all(s.done() for s in seeds)]:
                    old.unlink()  # the disk need not hold the data of all experiments
                    del readers[old]
                pack(prepared, parcel)
            future = begin(parcel, seed, folder, resume)
            readers.setdefault(parcel, []).append(future)
            return future

        yield submit


@dataclass
class _Task:
    """A seed under way; `left` are those of its experiment without an outcome."""

    experiment: Experiment
    prepared: Prepared
    seed: int
    left: set[int]


class _Queue:
    """The seeds under way, and what becomes of those that end."""

    def __init__(
        self,
        keep: Keep,
        errors: dict[str, str],
        observer: QueueObserver,
        data_root: str | None,
        resume: bool,
        begin: Submit,
    ) -> None:
        self.running: dict[Future[None], _Task] = {}
        self._begin = begin
        self._keep, self._errors, self._observer = keep, errors, observer
        self._data_root, self._resume = data_root, resume
        self._last: Prepared | None = None
        self._code = commit()

    def start(self, experiment: Experiment) -> None:
        """Prepare an experiment and hand out its seeds."""
        self._observer.stage(f"preparing {experiment.label}")
        seeds = experiment.waiting(self._resume)
        left = set(seeds)
        try:
            prepared = self._prepare(experiment.recipe)
            if not seeds:
                self._finish(experiment, prepared)
            for seed in seeds:
                self._submit(_Task(experiment, prepared, seed, left))
                self.collect(timeout=0)
        except Exception as error:  # data that is missing, a disk that is full
            self._fail(experiment, error)
        self._observer.stage("training")

    def _submit(self, task: _Task) -> None:
        folder = task.experiment.seed_folder(task.seed)
        self.running[self._begin(task.prepared, task.seed, folder)] = task

    def _prepare(self, recipe: Recipe) -> Prepared:
        if self._last is not None and not shares_data(self._last, recipe):
            self._last = None  # there may not be room for two
        prepared = prepare(recipe, self._data_root, self._last)
        prepared.rank_baselines()
        self._last = prepared
        return prepared

    def collect(self, timeout: float | None = None) -> None:
        """Wait until a seed ends, `timeout` seconds at most, and take in all that ended."""
        done, _ = wait(self.running, timeout, FIRST_COMPLETED)
        for future in done:
            task = self.running.pop(future)
            try:
                if isinstance(future.exception(), NotBegun):
                    self._submit(task)
                    continue
                future.result()
                outcome = read_json(task.experiment.seed_folder(task.seed) / OUTCOME)
                self._observer.seed(task.experiment.label, SeedOutcome.from_dict(outcome))
                task.left.remove(task.seed)
                if not task.left:
                    self._finish(task.experiment, task.prepared)
            except Exception as error:  # whatever it was: the others go on
                self._fail(task.experiment, error)

    def _finish(self, experiment: Experiment, prepared: Prepared) -> None:
        seeds = experiment.recipe.run.seeds
        self._keep(experiment, gather(prepared, experiment.folder, self._code, 0.0, seeds))

    def _fail(self, experiment: Experiment, error: Exception) -> None:
        message = str(error)
        if isinstance(error, BrokenProcessPool):
            message = KILLED
        elif not isinstance(error, MatchworkError):
            message = f"{type(error).__name__}: {error}"
        if experiment.label not in self._errors:
            self._observer.failed(experiment.label, message)
        self._errors[experiment.label] = message

"""Train every combination of a sweep, seeds of several at once, and keep what each gave."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from matchwork.errors import MatchworkError
from matchwork.experiment.environment import commit
from matchwork.experiment.observer import Observer
from matchwork.experiment.prepare import Prepared, prepare
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results import SWEEPS
from matchwork.experiment.run import RESULT, claim, gather
from matchwork.experiment.seed import SeedOutcome
from matchwork.experiment.side_by_side import KILLED, pack, processes, train_packed
from matchwork.experiment.sweep import Combination, Sweep
from matchwork.experiment.sweep_charts import draw_sweep
from matchwork.experiment.sweep_result import SweepResult
from matchwork.experiment.train_seed import OUTCOME, train_seed
from matchwork.files import read_json

Submit: TypeAlias = Callable[[Prepared, int, Path], "Future[None]"]


class SweepObserver:
    """Told how a sweep goes on; this one keeps quiet."""

    def begin(self, num_seeds: int, num_kept: int) -> None:
        """So many seeds are to be trained; so many combinations need no work."""

    def stage(self, text: str) -> None:
        """A new part of the work begins."""

    def seed(self, combination: Combination, outcome: SeedOutcome) -> None:
        """A seed is finished."""

    def failed(self, combination: Combination, message: str) -> None:
        """A combination will have no result."""


def run_sweep(
    sweep: Sweep,
    out: str | Path,
    *,
    wanted: Sequence[Combination] | None = None,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: SweepObserver | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Train, measure and draw all combinations, or those `wanted`; where the result is, and it.

    The result is `results/sweeps/<sweep>.json`, or `<sweep>.json` in `out`, which receives
    everything else; charts lie beside it. It is written anew after each combination and keeps
    those of earlier runs. One that fails is named under `missing`, the others go on.
    """
    out, observer = Path(out), observer or SweepObserver()
    folder = out if results is None else Path(results) / SWEEPS
    result = SweepResult(sweep, folder / f"{sweep.name}.json")
    chosen = sweep.combinations if wanted is None else wanted
    waiting = [one for one in chosen if not (resume and _is_kept(one, out, result))]
    for combination in waiting:
        claim(out / combination.folder, combination.recipe, resume)
    work = _Work(out, result, observer, str(data_root) if data_root else None)
    observer.begin(sum(len(work.seeds(one)) for one in waiting), len(chosen) - len(waiting))
    with _at_once(jobs, resume) if jobs > 1 else _in_turn(resume) as submit:
        for combination in waiting:
            work.start(combination, submit)
            while len(work.running) >= 2 * jobs:  # as many wait as run: nobody is idle
                work.collect()
        while work.running:
            work.collect()
    result.write()
    draw_sweep(result.path)
    return result.path, result.to_json()


def _is_kept(combination: Combination, out: Path, result: SweepResult) -> bool:
    """Whether there is a result already, in the file of the sweep or in the folder of its run."""
    made = out / combination.folder / RESULT
    if combination not in result and made.exists():
        result.add(combination, read_json(made))
    return combination in result


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
    """Seeds are trained in processes, whichever combination they belong to."""
    with TemporaryDirectory(prefix="matchwork-") as shared, processes(jobs) as pool:

        def submit(prepared: Prepared, seed: int, folder: Path) -> "Future[None]":
            parcel = Path(shared, f"{prepared.recipe.hash}.pickle")
            if not parcel.exists():
                pack(prepared, parcel)
            return pool.submit(train_packed, parcel, seed, folder, resume)

        yield submit


@dataclass
class _Task:
    """A seed under way; `left` are those of its combination without an outcome."""

    combination: Combination
    prepared: Prepared
    seed: int
    left: set[int]


class _Work:
    """The seeds under way, and what becomes of those that end."""

    def __init__(
        self, out: Path, result: SweepResult, observer: SweepObserver, data_root: str | None
    ) -> None:
        self.running: dict[Future[None], _Task] = {}
        self._out, self._result, self._observer = out, result, observer
        self._prepare = _Preparation(data_root)
        self._code = commit()

    def seeds(self, combination: Combination) -> list[int]:
        """Those that are not finished."""
        folder = self._out / combination.folder
        seeds = combination.recipe.run.seeds
        return [seed for seed in seeds if not (folder / f"seed-{seed}" / OUTCOME).exists()]

    def start(self, combination: Combination, submit: Submit) -> None:
        """Prepare a combination and hand out its seeds."""
        self._observer.stage(f"preparing {combination.label}")
        seeds = self.seeds(combination)
        left = set(seeds)
        try:
            prepared = self._prepare(combination.recipe)
            if not seeds:
                self._finish(combination, prepared)
            for seed in seeds:
                folder = self._out / combination.folder / f"seed-{seed}"
                future = submit(prepared, seed, folder)
                self.running[future] = _Task(combination, prepared, seed, left)
                self.collect(timeout=0)
        except Exception as error:  # data that is missing, a pool that broke
            self._fail(combination, error)

    def collect(self, timeout: float | None = None) -> None:
        """Wait until a seed ends, `timeout` seconds at most, and take in all that ended."""
        done, _ = wait(self.running, timeout, FIRST_COMPLETED)
        for future in done:
            task = self.running.pop(future)
            try:
                future.result()
                folder = self._out / task.combination.folder / f"seed-{task.seed}"
                outcome = SeedOutcome.from_json(read_json(folder / OUTCOME))
                self._observer.seed(task.combination, outcome)
                task.left.remove(task.seed)
                if not task.left:
                    self._finish(task.combination, task.prepared)
            except Exception as error:  # whatever it was: the others go on
                self._fail(task.combination, error)

    def _finish(self, combination: Combination, prepared: Prepared) -> None:
        seeds = combination.recipe.run.seeds
        folder = self._out / combination.folder
        self._result.add(combination, gather(prepared, folder, self._code, 0.0, seeds))
        self._result.write()

    def _fail(self, combination: Combination, error: Exception) -> None:
        message = str(error)
        if isinstance(error, BrokenProcessPool):
            message = KILLED
        elif not isinstance(error, MatchworkError):
            message = f"{type(error).__name__}: {error}"
        if combination.label not in self._result.errors:
            self._observer.failed(combination, message)
        self._result.errors[combination.label] = message


class _Preparation:
    """Reads data and vectors again only for a combination that wants others."""

    def __init__(self, data_root: str | None) -> None:
        self._data_root = data_root
        self._last: tuple[str, Prepared] | None = None

    def __call__(self, recipe: Recipe) -> Prepared:
        """What the seeds of this recipe share, baselines ranked."""
        settings = recipe.to_json()
        parts = {key: settings.get(key) for key in ("data", "text", "vectors", "links", "also")}
        wanted = dumps([parts, recipe.train.dev_measure])
        if self._last is None or self._last[0] != wanted:
            self._last = None  # there may not be room for two
            prepared = prepare(recipe, self._data_root)
            prepared.rank_baselines()
            self._last = wanted, prepared
        return replace(self._last[1], recipe=recipe)

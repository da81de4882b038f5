"""Run a recipe: train every seed, measure on test, compare with BM25, write the result."""

import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError
from matchwork.experiment.environment import commit
from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import SeedOutcome
from matchwork.experiment.prepare import Prepared, prepare
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results import write_result
from matchwork.experiment.results.result import make_result
from matchwork.experiment.side_by_side import import_early, train_side_by_side
from matchwork.experiment.train_seed import OUTCOME, train_seed
from matchwork.files import read_json, write_json

RESULT = "result.json"  # written when all seeds of a recipe are finished


def run_recipe(
    recipe: Recipe,
    out: str | Path,
    *,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Everything from data to result; `out` receives matchers, runs and `result.json`.

    With `results`, the result is also written to `results/<dataset>/<recipe>.json`. `jobs` seeds
    are trained at once, each in a process of its own.
    """
    out, observer = Path(out), observer or Observer()
    claim(out, recipe, resume)
    began, code = time.monotonic(), commit()
    folders = {seed: out / f"seed-{seed}" for seed in recipe.run.seeds}
    finished = {seed for seed in folders if resume and (folders[seed] / OUTCOME).exists()}
    waiting = {seed: folder for seed, folder in folders.items() if seed not in finished}
    at_once = jobs > 1 and len(waiting) > 1
    if at_once:
        import_early()
    observer.stage(f"reading {recipe.data.name}")
    prepared = prepare(recipe, str(data_root) if data_root else None)
    observer.stage("ranking with BM25")
    prepared.rank_baselines()
    if at_once:
        train_side_by_side(prepared, waiting, resume, observer, jobs)
    else:
        for seed, folder in waiting.items():
            train_seed(prepared, seed, folder, resume, observer)
    result = gather(prepared, out, code, time.monotonic() - began, finished)
    if results is not None:
        write_result(Path(results) / recipe.dataset_folder / f"{recipe.name}.json", result)
    return result


def gather(
    prepared: Prepared, out: Path, code: str | None, seconds: float, earlier: Collection[int] = ()
) -> dict[str, Any]:
    """The result of seeds that are all finished, also written as `result.json`.

    `seconds` is what they took together, but for those trained `earlier`.
    """
    found = [read_json(out / f"seed-{seed}" / OUTCOME) for seed in prepared.recipe.run.seeds]
    outcomes = [SeedOutcome.from_dict(table) for table in found]
    seconds += sum(outcome.seconds for outcome in outcomes if outcome.seed in earlier)
    baselines = {name: c.baselines for name, c in prepared.conditions.items()}
    result = make_result(prepared, baselines, outcomes, seconds, code)
    write_result(out / RESULT, result)
    return result


def claim(out: Path, recipe: Recipe, resume: bool) -> None:
    """One folder, one recipe: never mix two, never overwrite by accident."""
    note = out / "recipe.json"
    if note.exists() and any(out.glob("seed-*")):  # else nothing was done that could be lost
        if changed := recipe.differences(read_json(note)["settings"]):
            raise ConfigError(
                f"{out} holds a run of other settings ({', '.join(changed)}); choose another "
                "--out or delete it"
            )
        if not resume:
            raise ConfigError(
                f"{out} already holds this run; continue it with --resume, choose another --out, "
                "or delete it"
            )
    write_json(note, {"name": recipe.name, "settings": recipe.to_dict()})

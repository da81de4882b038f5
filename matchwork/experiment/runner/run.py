"""Run a recipe, several recipes or a sweep: train, measure on test, compare with BM25."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError
from matchwork.experiment.observer import Observer
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results.files import SWEEPS, read_result, write_result
from matchwork.experiment.runner.queue import RESULT, Experiment, message_of, run_queue
from matchwork.experiment.sweep.sweep import Combination, Sweep
from matchwork.files import read_json


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
    """Run a recipe from data to result.

    Args:
        recipe: The recipe.
        out: Folder for matchers, runs, checkpoints and `result.json`.
        data_root: Folder that holds the catalogued data sets.
        results: Folder that also receives the result, as `<dataset>/<recipe>.json`.
        resume: Whether to continue an interrupted run.
        jobs: Number of seeds to train at once, each in a process of its own.
        observer: Receives the progress.

    Returns:
        The result; see `make_result`.
    """
    experiment = Experiment(_label(recipe), recipe, Path(out))
    made: list[dict[str, Any]] = []

    def keep(_: Experiment, result: dict[str, Any]) -> None:
        made.append(result)

    experiment.reserve(resume)
    errors = run_queue(
        [experiment], keep, data_root=data_root, resume=resume, jobs=jobs, observer=observer
    )
    for error in errors.values():
        raise error
    if results is not None:
        write_result(Path(results, f"{experiment.label}.json"), made[0])
    return made[0]


def run_recipes(
    recipes: Sequence[Recipe],
    out: str | Path,
    *,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: Observer | None = None,
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Run recipes as one queue of seeds.

    Args:
        recipes: The recipes.
        out: Folder that receives a folder `<dataset>/<recipe>` for each.
        data_root: Folder that holds the catalogued data sets.
        results: Folder that also receives the results, as `<dataset>/<recipe>.json`.
        resume: Whether to continue an interrupted run; finished recipes are only read.
        jobs: Number of seeds to train at once, of whichever recipe.
        observer: Receives the progress.

    Returns:
        The results, and the messages of recipes that failed, by their labels.
    """
    experiments = _experiments(recipes, Path(out))
    made: dict[str, dict[str, Any]] = {}

    def keep(experiment: Experiment, result: dict[str, Any]) -> None:
        made[experiment.label] = result
        if results is not None:
            write_result(Path(results, f"{experiment.label}.json"), result)

    for experiment in experiments:
        experiment.reserve(resume)
    for experiment in experiments:
        path = experiment.folder / RESULT
        if resume and path.exists():
            result = read_result(path)
            if not experiment.recipe.differences(result["settings"]):
                keep(experiment, result)
    errors = run_queue(
        [one for one in experiments if one.label not in made],
        keep,
        num_done=len(made),
        data_root=data_root,
        resume=resume,
        jobs=jobs,
        observer=observer,
    )
    messages = {label: message_of(error) for label, error in errors.items()}
    return [made[one.label] for one in experiments if one.label in made], messages


def run_sweep(
    sweep: Sweep,
    out: str | Path,
    *,
    wanted: Sequence[Combination] | None = None,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: Observer | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Train, measure and draw the combinations of a sweep.

    The result is written after each combination and keeps those of earlier runs.

    Args:
        sweep: The sweep.
        out: Folder for matchers, runs and checkpoints.
        wanted: The combinations to run; None: all.
        data_root: Folder that holds the catalogued data sets.
        results: Folder that receives the result and its charts, under `sweeps`; None: `out`.
        resume: Whether to train only what has no result yet.
        jobs: Number of seeds to train at once, of whichever combination.
        observer: Receives the progress.

    Returns:
        The path of the result and the result; a combination that failed is under `missing`.
    """
    from matchwork.experiment.sweep.charts import draw_sweep
    from matchwork.experiment.sweep.result import SweepResult

    out = Path(out)
    folder = out if results is None else Path(results) / SWEEPS
    result = SweepResult(sweep, folder / f"{sweep.name}.json")
    chosen = sweep.combinations if wanted is None else wanted
    if resume:
        for one in chosen:
            path = out / one.folder / RESULT
            if one not in result and path.exists():
                result.add(one, read_json(path))
    waiting = {one.label: one for one in chosen if not (resume and one in result)}
    experiments = [Experiment(name, one.recipe, out / one.folder) for name, one in waiting.items()]

    def keep(experiment: Experiment, made: dict[str, Any]) -> None:
        result.add(waiting[experiment.label], made)
        result.write()

    for experiment in experiments:
        experiment.reserve(resume)
    errors = run_queue(
        experiments,
        keep,
        num_done=len(chosen) - len(waiting),
        data_root=data_root,
        resume=resume,
        jobs=jobs,
        observer=observer,
    )
    result.errors |= {label: message_of(error) for label, error in errors.items()}
    result.write()
    draw_sweep(result.path)
    return result.path, result.to_dict()


def _label(recipe: Recipe) -> str:
    return f"{recipe.dataset_folder}/{recipe.name}"


def _experiments(recipes: Sequence[Recipe], out: Path) -> list[Experiment]:
    labels = [_label(recipe) for recipe in recipes]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(
            f"two recipes are both called {twice[0]}, and one result would replace the other; "
            "rename a file, or run them one by one with an --out of their own"
        )
    pairs = zip(labels, recipes, strict=True)
    return [Experiment(label, recipe, out / label) for label, recipe in pairs]

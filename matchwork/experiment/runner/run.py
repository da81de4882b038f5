"""Run a recipe, several recipes or a sweep: train, measure on test, compare with BM25."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError
from matchwork.experiment.outcome import Observer
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results.result import SWEEPS, read_result, write_result
from matchwork.experiment.runner.queue import RESULT, Experiment, Options, message_of, run_queue
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
    errors = _run(
        [experiment],
        Options(data_root, resume, jobs, observer),
        lambda _, result: made.append(result),
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
    """Run recipes as one queue of seeds, each in a folder `<dataset>/<recipe>` of `out`.

    With `resume`, finished recipes are only read. See `run_recipe` for the arguments.

    Returns:
        The results, and the messages of recipes that failed, by their labels.
    """
    labels = [_label(recipe) for recipe in recipes]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise ConfigError(
            f"two recipes are both called {twice[0]}, and one result would replace the other; "
            "rename a file, or run them one by one with an --out of their own"
        )
    pairs = zip(labels, recipes, strict=True)
    experiments = [Experiment(label, recipe, Path(out) / label) for label, recipe in pairs]
    made: dict[str, dict[str, Any]] = {}

    def keep(experiment: Experiment, result: dict[str, Any]) -> None:
        made[experiment.label] = result
        if results is not None:
            write_result(Path(results, f"{experiment.label}.json"), result)

    def done(experiment: Experiment) -> bool:
        path = experiment.folder / RESULT
        if not (resume and path.exists()):
            return False
        result = read_result(path)
        if experiment.recipe.differences(result["settings"]):
            return False
        keep(experiment, result)
        return True

    errors = _run(experiments, Options(data_root, resume, jobs, observer), keep, done)
    messages = {label: message_of(error) for label, error in errors.items()}
    return [made[label] for label in labels if label in made], messages


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
    """Train, measure and draw the combinations of a sweep; see `run_recipe` for the arguments.

    The result is written after each combination and keeps those of earlier runs.

    Args:
        sweep: The sweep.
        wanted: The combinations to run; None: all.
        results: Folder that receives the result and its charts, under `sweeps`; None: `out`.
        resume: Whether to train only what has no result yet.

    Returns:
        The path of the result and the result; a combination that failed is under `missing`.
    """
    from matchwork.experiment.sweep.charts import draw_sweep
    from matchwork.experiment.sweep.result import SweepResult

    out = Path(out)
    folder = out if results is None else Path(results) / SWEEPS
    result = SweepResult(sweep, folder / f"{sweep.name}.json")
    chosen = {one.label: one for one in (sweep.combinations if wanted is None else wanted)}
    if resume:
        for one in chosen.values():
            path = out / one.folder / RESULT
            if one not in result and path.exists():
                result.add(one, read_json(path))
    experiments = [Experiment(name, one.recipe, out / one.folder) for name, one in chosen.items()]

    def keep(experiment: Experiment, made: dict[str, Any]) -> None:
        result.add(chosen[experiment.label], made)
        result.write()

    def done(experiment: Experiment) -> bool:
        return resume and chosen[experiment.label] in result

    errors = _run(experiments, Options(data_root, resume, jobs, observer), keep, done)
    result.errors |= {label: message_of(error) for label, error in errors.items()}
    result.write()
    draw_sweep(result.path)
    return result.path, result.to_dict()


def _run(
    experiments: Sequence[Experiment],
    options: Options,
    keep: Callable[[Experiment, dict[str, Any]], None],
    done: Callable[[Experiment], bool] = lambda _: False,
) -> dict[str, Exception]:
    """Run the experiments that are not done, pass on each result, and return errors by label."""
    for experiment in experiments:
        experiment.reserve(options.resume)
    waiting = [experiment for experiment in experiments if not done(experiment)]
    errors: dict[str, Exception] = {}
    with closing(run_queue(waiting, options, len(experiments) - len(waiting))) as queue:
        for experiment, result in queue:
            try:
                if isinstance(result, Exception):
                    raise result
                keep(experiment, result)
            except Exception as error:  # the others go on
                errors[experiment.label] = error
                (options.observer or Observer()).failed(experiment.label, message_of(error))
    return errors


def _label(recipe: Recipe) -> str:
    return f"{recipe.dataset_folder}/{recipe.name}"

"""Several recipes in one run: a result each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError
from matchwork.experiment.queue import Experiment, QueueObserver, train_all
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results import read_result, write_result
from matchwork.experiment.run import RESULT, claim


def run_recipes(
    recipes: Sequence[Recipe],
    out: str | Path,
    *,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: QueueObserver | None = None,
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The results of those that have one, and what went wrong with the others.

    Each is what `run_recipe` gives, but that its seconds are those of its seeds added up, and goes
    to `<dataset>/<recipe>` of `out` and `results`. `jobs` seeds are trained at once, of whichever
    recipe.
    """
    experiments = _experiments(recipes, Path(out))
    found: dict[str, dict[str, Any]] = {}
    errors: dict[str, str] = {}

    def keep(experiment: Experiment, result: dict[str, Any]) -> None:
        found[experiment.label] = result
        if results is not None:
            write_result(Path(results, f"{experiment.label}.json"), result)

    for experiment in experiments:
        claim(experiment.folder, experiment.recipe, resume)
    for experiment in experiments:
        made = experiment.folder / RESULT
        known = read_result(made) if resume and made.exists() else {}
        if known and not experiment.recipe.differences(known["settings"]):
            keep(experiment, known)
    waiting = [one for one in experiments if one.label not in found]
    observer = observer or QueueObserver()
    observer.begin(sum(len(one.waiting(resume)) for one in waiting), len(found))
    train_all(
        waiting, keep, errors, data_root=data_root, resume=resume, jobs=jobs, observer=observer
    )
    return [found[one.label] for one in experiments if one.label in found], errors


def _experiments(recipes: Sequence[Recipe], out: Path) -> list[Experiment]:
    labels = [f"{recipe.dataset_folder}/{recipe.name}" for recipe in recipes]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ConfigError(
            f"two recipes are both called {twice[0]}, and one result would replace the other; "
            "rename a file, or run them one by one with an --out of their own"
        )
    return [
        Experiment(label, recipe, out / label)
        for label, recipe in zip(labels, recipes, strict=True)
    ]

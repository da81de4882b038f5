"""Train every combination of a sweep, and draw what each gave."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matchwork.experiment.queue import Experiment, QueueObserver, train_all
from matchwork.experiment.results import SWEEPS
from matchwork.experiment.run import RESULT, claim
from matchwork.experiment.sweep import Combination, Sweep
from matchwork.experiment.sweep.charts import draw_sweep
from matchwork.experiment.sweep.result import SweepResult
from matchwork.files import read_json


def run_sweep(
    sweep: Sweep,
    out: str | Path,
    *,
    wanted: Sequence[Combination] | None = None,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    observer: QueueObserver | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Train, measure and draw all combinations, or those `wanted`; where the result is, and it.

    The result is `results/sweeps/<sweep>.json`, or `<sweep>.json` in `out`, which receives
    everything else; charts lie beside it. It is written anew after each combination and keeps
    those of earlier runs. One that fails is named under `missing`, the others go on.
    """
    out, observer = Path(out), observer or QueueObserver()
    folder = out if results is None else Path(results) / SWEEPS
    result = SweepResult(sweep, folder / f"{sweep.name}.json")
    chosen = sweep.combinations if wanted is None else wanted
    waiting = {one.label: one for one in chosen if not (resume and _is_kept(one, out, result))}
    experiments = [
        Experiment(label, one.recipe, out / one.folder) for label, one in waiting.items()
    ]

    def keep(experiment: Experiment, made: dict[str, Any]) -> None:
        result.add(waiting[experiment.label], made)
        result.write()

    for experiment in experiments:
        claim(experiment.folder, experiment.recipe, resume)
    num_seeds = sum(len(experiment.waiting(resume)) for experiment in experiments)
    observer.begin(num_seeds, len(chosen) - len(waiting))
    train_all(
        experiments,
        keep,
        result.errors,
        data_root=data_root,
        resume=resume,
        jobs=jobs,
        observer=observer,
    )
    result.write()
    draw_sweep(result.path)
    return result.path, result.to_dict()


def _is_kept(combination: Combination, out: Path, result: SweepResult) -> bool:
    """Whether there is a result already, in the file of the sweep or in the folder of its run."""
    made = out / combination.folder / RESULT
    if combination not in result and made.exists():
        result.add(combination, read_json(made))
    return combination in result

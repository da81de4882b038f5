"""A seed of a recipe: train it, measure it, store its outcome; and what schedules such jobs."""

import time
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Protocol

import torch

from matchwork.data import write_run
from matchwork.evaluate import PROTOCOLS
from matchwork.evaluate.fusion import choose_weight
from matchwork.experiment.condition import Condition
from matchwork.experiment.outcome import ConditionOutcome, Observer, SeedOutcome
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.recipe.data import MAIN
from matchwork.experiment.results.result import in_words
from matchwork.experiment.seed_observer import SeedObserver
from matchwork.files import write_json
from matchwork.matcher.matcher import Matcher
from matchwork.rank.fusion import fuse
from matchwork.report.markdown import markdown_table
from matchwork.report.numbers import Cell
from matchwork.train.api import TrainingData, train
from matchwork.train.stages import stage_cache
from matchwork.train.state import drop_checkpoint
from matchwork.types import Run
from matchwork.version import VERSION

OUTCOME = "outcome.json"
"""The file of an outcome; written last, so where it exists the seed is finished."""


@dataclass(frozen=True, eq=False)
class Job:
    """A seed to train."""

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
    """Trains jobs, `num_workers` at a time: in this process, in others, on a cluster.

    Used as a context; leaving it by an exception starts no further job.
    """

    num_workers: int

    def submit(self, job: Job) -> None:
        """Add a job; it may start at once or wait."""
        ...

    def collect(self, wait: bool = True) -> list[Finished]:
        """Return the jobs that ended since the last call; `wait` for one where none has."""
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
        except Exception as error:  # returned by `collect`, as from a worker process
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


def train_seed(
    prepared: Prepared, seed: int, folder: Path, resume: bool, observer: Observer
) -> SeedOutcome:
    """Train, calibrate on dev and measure on test; save matcher, runs and outcome in `folder`."""
    recipe = prepared.recipe
    seeds = recipe.run.seeds
    observer.stage(f"training seed {seed} ({seeds.index(seed) + 1} of {len(seeds)})")
    matcher = prepared.matcher(seed).to(precision=recipe.run.precision)
    trained = train(
        matcher,
        TrainingData(prepared.samples, prepared.main.dev, prepared.dev_samples),
        config=recipe.train,
        seed=seed,
        folder=folder / "training",
        resume=resume,
        show_progress=observer.bar,
        observer=SeedObserver(observer, seed, recipe.data.dev),
        stages=recipe.stages,
        stage_cache=stage_cache(),
    )
    began = time.monotonic()
    if torch.cuda.is_available() and recipe.train.accelerator != "cpu":
        matcher.to("cuda")
    outcome = SeedOutcome(
        seed=seed,
        best_epoch=trained.best_epoch,
        dev=trained.best_value,
        history=trained.history,
        dev_loss=trained.dev_loss,
        stages=[stage.to_dict() for stage in trained.stages],
        cut_texts=trained.truncation.texts,
        cut_tokens=trained.truncation.tokens,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, condition in prepared.conditions.items():
        where = "" if name == MAIN else f", {name}"
        observer.stage(f"measuring seed {seed} on {condition.section.data.test}{where}")
        dev_run = trained.dev_run if name == MAIN else None
        outcome.conditions[name] = _measure(condition, matcher, folder, observer, dev_run)
    outcome.seconds = trained.seconds + time.monotonic() - began
    matcher.to("cpu").save(folder / "matcher", _model_card(prepared, outcome))
    write_json(folder / OUTCOME, outcome.to_dict())
    drop_checkpoint(folder / "training")
    return outcome


def _measure(
    condition: Condition, matcher: Matcher, folder: Path, observer: Observer, dev_run: Run | None
) -> ConditionOutcome:
    """Measure the matcher alone and, for a ranking, fused with baselines; write the run."""
    test, dev = condition.test, condition.dev
    run = test.run(matcher, observer.progress)
    write_run(folder / condition.run_file, run, tag=matcher.name)
    evaluation = test.evaluate_scorer(matcher, run, matcher.calibration)
    outcome = ConditionOutcome(
        {matcher.name: evaluation}, reliability=test.reliability(run, matcher.calibration)
    )
    if test.task == "ranking":
        measure, protocol = dev.measures[0], dev.protocol
        ours = dev_run or dev.run(matcher)
        for name in condition.section.data.fuse_with:
            baseline = condition.baselines[name]
            weight = choose_weight(ours, baseline.dev, dev.split.qrels, measure, protocol)
            fused = fuse(run, baseline.test, weight)
            outcome.evaluations[f"{name} + {matcher.name}"] = test.evaluate(fused)
            outcome.weights[name] = weight
    return outcome


def _model_card(prepared: Prepared, outcome: SeedOutcome) -> str:
    """Return the README of a saved matcher: what it is, how good it is, how to use it."""
    recipe = prepared.recipe
    measured = "\n\n".join(
        _measured(condition, outcome.conditions[name])
        for name, condition in prepared.conditions.items()
    )
    return f"""# {recipe.model_name} trained on {recipe.data.name}

A text matcher made with matchwork {VERSION} from the recipe `{recipe.name}`,
seed {outcome.seed}, best epoch {outcome.best_epoch}.

{measured}

## Use

```python
import matchwork as mw

matcher = mw.load("FOLDER")
for hit in matcher.rerank("a query", ["a text", "another text"]):
    print(hit.rank, hit.score, hit.document.text)
```

## Settings

```json
{dumps(recipe.to_dict(), indent=2)}
```
"""


def _measured(condition: Condition, outcome: ConditionOutcome) -> str:
    """Return how a condition was measured, and a table of its systems."""
    first, *_ = outcome.evaluations.values()
    title = "" if condition.name == MAIN else f"Condition `{condition.name}`: "
    fusion = ""
    if outcome.weights:
        shares = ", ".join(f"{weight} beside {name}" for name, weight in outcome.weights.items())
        fusion = f" Fusion gives the matcher a weight of {shares}, chosen on dev."
    rule = "fall by id" if PROTOCOLS[first.protocol].ties_by_id else "count against the system"
    baselines = {name: baseline.evaluation for name, baseline in condition.baselines.items()}
    systems = {**baselines, **outcome.evaluations}
    rows: list[list[Cell]] = [
        [name, *(float(evaluation[measure]) for measure in first.samples)]
        for name, evaluation in systems.items()
    ]
    lines = [
        f"{title}Measured on split `{condition.section.data.test}`, "
        f"protocol `{first.protocol}`, {first.num_queries} queries{in_words(condition.to_dict())},",
        f"{first.num_ties} tied documents (ties {rule}).{fusion}",
        "",
        *markdown_table(["system", *first.samples], rows),
    ]
    return "\n".join(lines)

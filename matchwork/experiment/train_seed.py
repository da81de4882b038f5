"""One seed of a recipe: train it, measure it, keep what it gave."""

import gc
import time
from collections.abc import Mapping
from pathlib import Path

import torch

from matchwork.data import write_run
from matchwork.experiment.condition import Condition
from matchwork.experiment.model_card import model_card
from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import ConditionOutcome, SeedOutcome
from matchwork.experiment.prepare import Prepared
from matchwork.files import write_json
from matchwork.matcher.matcher import Matcher
from matchwork.rank.pipeline import choose_weight, fuse
from matchwork.train.fitting import FitResult, fit
from matchwork.train.stage_file import stage_cache
from matchwork.train.stages import StageObserver, StagePlan
from matchwork.train.state import drop_checkpoint
from matchwork.train.validate import Validator
from matchwork.types import Run

OUTCOME = "outcome.json"  # written last: where it lies, the seed is finished


def train_seed(
    prepared: Prepared, seed: int, folder: Path, resume: bool, observer: Observer
) -> None:
    """Train, calibrate on dev, measure on test; `folder` receives all of it."""
    recipe, began = prepared.recipe, time.monotonic()
    seeds = recipe.run.seeds
    observer.stage(f"training seed {seed} ({seeds.index(seed) + 1} of {len(seeds)})")
    matcher = prepared.matcher(seed).to(precision=recipe.run.precision)
    validator = Validator(prepared.main.dev, matcher)
    trained = fit(
        matcher.model,
        prepared.samples,
        recipe.train,
        seed=seed,
        validate=validator,
        dev_samples=prepared.dev_samples,
        folder=folder / "training",
        resume=resume,
        progress=observer.bar,
        on_epoch=lambda record: observer.epoch(seed, record),
        stages=StagePlan(recipe.stages, stage_cache(), _StageTeller(observer, seed)),
    )
    learning = max(time.monotonic() - began, _seconds(trained))
    began = time.monotonic()
    gc.collect()  # trainer and optimiser hold each other: several times the weights, on the device
    if torch.cuda.is_available() and recipe.train.accelerator != "cpu":
        matcher.to("cuda")
    observer.stage(f"calibrating seed {seed} on {recipe.data.dev}")
    dev_run = validator.calibrate(trained)
    outcome = SeedOutcome(
        seed=seed,
        best_epoch=trained.best_epoch,
        dev=trained.best_value,
        history=trained.history,
        dev_loss=trained.dev_loss,
        stages=[stage.to_json() for stage in trained.stages],
        cut_texts=prepared.samples.documents.num_cut_texts + prepared.samples.queries.num_cut_texts,
        cut_tokens=prepared.samples.documents.num_cut_tokens
        + prepared.samples.queries.num_cut_tokens,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, condition in prepared.conditions.items():
        where = "" if condition is prepared.main else f", {name}"
        observer.stage(f"measuring seed {seed} on {condition.section.data.test}{where}")
        known = dev_run if condition is prepared.main else None
        outcome.conditions[name] = _measure(condition, matcher, folder, observer, known)
    outcome.seconds = learning + time.monotonic() - began
    matcher.to("cpu").save(folder / "matcher", model_card(prepared, outcome))
    write_json(folder / OUTCOME, outcome.to_dict())
    drop_checkpoint(folder / "training")


def _seconds(trained: FitResult) -> float:
    """What stages and epochs took, in this process and in those that it continues."""
    stages = sum(stage.seconds for stage in trained.stages if not stage.reused)
    return stages + sum(record["seconds"] for record in trained.history)


class _StageTeller(StageObserver):
    """Passes on how the stages of one seed go."""

    def __init__(self, observer: Observer, seed: int) -> None:
        self._observer, self._seed, self._name = observer, seed, ""

    def begin(self, name: str, number: int, total: int, reused: bool) -> None:
        self._name = name
        verb = "reusing" if reused else "training"
        self._observer.stage(f"{verb} stage {name} ({number} of {total}) of seed {self._seed}")

    def batch(self, done: int, total: int) -> None:
        self._observer.batch(done, total)

    def epoch(self, record: Mapping[str, float]) -> None:
        self._observer.stage_epoch(self._seed, self._name, record)

    def end(self) -> None:
        self._observer.stage(f"training the whole model of seed {self._seed}")


def _measure(
    condition: Condition,
    matcher: Matcher,
    folder: Path,
    observer: Observer,
    dev_run: Run | None,
) -> ConditionOutcome:
    """The matcher alone and, for a ranking, fused with baselines; the run is kept in `folder`."""
    test, dev = condition.test, condition.dev
    run = test.run(matcher, observer.progress)
    write_run(folder / condition.run_file, run, tag=matcher.name)
    evaluation = test.evaluate_matcher(matcher, run, matcher.calibration)
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

"""A seed of a recipe: train it, measure it, store its outcome."""

import time
from collections.abc import Mapping
from pathlib import Path

import torch

from matchwork.data import write_run
from matchwork.evaluate.fusion import choose_weight
from matchwork.experiment.condition import Condition
from matchwork.experiment.model_card import model_card
from matchwork.experiment.observer import Observer
from matchwork.experiment.outcome import ConditionOutcome, SeedOutcome
from matchwork.experiment.prepare import Prepared
from matchwork.files import write_json
from matchwork.matcher.matcher import Matcher
from matchwork.rank.fusion import fuse
from matchwork.train.api import TrainingData, train
from matchwork.train.run import TrainObserver
from matchwork.train.stages import stage_cache
from matchwork.train.state import drop_checkpoint
from matchwork.types import Run

OUTCOME = "outcome.json"
"""The file of an outcome; written last, so where it exists the seed is finished."""


def train_seed(
    prepared: Prepared, seed: int, folder: Path, resume: bool, observer: Observer
) -> SeedOutcome:
    """Train, calibrate on dev and measure on test.

    Args:
        prepared: The recipe with its data.
        seed: The seed.
        folder: Folder for matcher, runs, checkpoints and outcome.
        resume: Whether to go on from a checkpoint.
        observer: Receives the progress.
    """
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
        where = "" if condition is prepared.main else f", {name}"
        observer.stage(f"measuring seed {seed} on {condition.section.data.test}{where}")
        known = trained.dev_run if condition is prepared.main else None
        outcome.conditions[name] = _measure(condition, matcher, folder, observer, known)
    outcome.seconds = trained.seconds + time.monotonic() - began
    matcher.to("cpu").save(folder / "matcher", model_card(prepared, outcome))
    write_json(folder / OUTCOME, outcome.to_dict())
    drop_checkpoint(folder / "training")
    return outcome


class SeedObserver(TrainObserver):
    """Passes the progress of one training run on to the observer of an experiment."""

    def __init__(self, observer: Observer, seed: int, dev: str = "dev") -> None:
        self._observer, self._seed, self._dev = observer, seed, dev

    def begin_stage(self, name: str, number: int, total: int, reused: bool) -> None:
        """Report the stage by its number."""
        verb = "reusing" if reused else "training"
        self._observer.stage(f"{verb} stage {name} ({number} of {total}) of seed {self._seed}")

    def stage_batch(self, done: int, total: int) -> None:
        """Report the batches done."""
        self._observer.batch(done, total)

    def stage_epoch(self, name: str, record: Mapping[str, float]) -> None:
        """Report an epoch of a stage."""
        self._observer.stage_epoch(self._seed, name, record)

    def begin_model(self) -> None:
        """Report that the stages are done."""
        self._observer.stage(f"training the whole model of seed {self._seed}")

    def epoch(self, record: Mapping[str, float]) -> None:
        """Report an epoch."""
        self._observer.epoch(self._seed, record)

    def calibrate(self) -> None:
        """Report that training is done."""
        self._observer.stage(f"calibrating seed {self._seed} on {self._dev}")


def _measure(
    condition: Condition,
    matcher: Matcher,
    folder: Path,
    observer: Observer,
    dev_run: Run | None,
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

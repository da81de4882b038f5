"""Run a recipe: train every seed, measure on test, compare with BM25, write the result."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from matchwork.data import write_run
from matchwork.errors import ConfigError
from matchwork.experiment.card import model_card
from matchwork.experiment.condition import Condition
from matchwork.experiment.environment import commit
from matchwork.experiment.prepare import Prepared, prepare
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.results import make_result, write_result
from matchwork.experiment.seed import ConditionOutcome, SeedOutcome
from matchwork.files import read_json, write_json
from matchwork.rank.matcher import Matcher
from matchwork.rank.pipeline import choose_weight, fuse
from matchwork.train.fitting import fit
from matchwork.train.validate import Validator, calibrate
from matchwork.types import Run


class Observer:
    """Told what happens during a run; this one keeps quiet."""

    bar = False

    def stage(self, text: str) -> None:
        """A new part of the work begins."""

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        """An epoch ended."""

    def progress(self, done: int, total: int) -> None:
        """So many pairs are scored."""


def run_recipe(
    recipe: Recipe,
    out: str | Path,
    *,
    data_root: str | Path | None = None,
    results: str | Path | None = None,
    resume: bool = False,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Everything from data to result; `out` receives matchers, runs and `result.json`.

    With `results`, the result is also written to `results/<dataset>/<recipe>.json`.
    """
    out, observer = Path(out), observer or Observer()
    _claim(out, recipe, resume)
    began, code = time.monotonic(), commit()
    observer.stage(f"reading {recipe.data.name}")
    prepared = prepare(recipe, str(data_root) if data_root else None)
    observer.stage("ranking with BM25")
    baselines = {name: c.baseline.evaluation for name, c in prepared.conditions.items()}
    outcomes, earlier = [], 0.0
    for number, seed in enumerate(recipe.run.seeds, start=1):
        folder = out / f"seed-{seed}"
        kept = folder / "outcome.json"
        if resume and kept.exists():
            outcomes.append(SeedOutcome.from_json(read_json(kept)))
            earlier += outcomes[-1].seconds
            continue
        observer.stage(f"training seed {seed} ({number} of {len(recipe.run.seeds)})")
        outcome = _run_seed(prepared, seed, folder, resume, observer)
        write_json(kept, outcome.to_json())
        outcomes.append(outcome)
    seconds = time.monotonic() - began + earlier
    result = make_result(prepared, baselines, outcomes, seconds, code)
    write_result(out / "result.json", result)
    if results is not None:
        write_result(Path(results) / recipe.dataset_folder / f"{recipe.name}.json", result)
    return result


def _claim(out: Path, recipe: Recipe, resume: bool) -> None:
    """One folder, one recipe: never mix two, never overwrite by accident."""
    note = out / "recipe.json"
    if note.exists() and any(out.glob("seed-*")):  # else nothing was done that could be lost
        if read_json(note)["hash"] != recipe.hash:
            raise ConfigError(
                f"{out} holds a run of other settings; choose another --out or delete it"
            )
        if not resume:
            raise ConfigError(
                f"{out} already holds this run; continue it with --resume, choose another --out, "
                "or delete it"
            )
    write_json(note, {"name": recipe.name, "hash": recipe.hash, "recipe": recipe.to_json()})


def _run_seed(
    prepared: Prepared, seed: int, folder: Path, resume: bool, observer: Observer
) -> SeedOutcome:
    recipe, began = prepared.recipe, time.monotonic()
    matcher = prepared.matcher(seed)
    trained = fit(
        matcher.model,
        prepared.samples,
        recipe.train,
        seed=seed,
        validate=Validator(prepared.main.dev, matcher),
        folder=folder / "training",
        resume=resume,
        progress=observer.bar,
        on_epoch=lambda record: observer.epoch(seed, record),
    )
    if torch.cuda.is_available() and recipe.train.accelerator != "cpu":
        matcher.to("cuda")
    observer.stage(f"calibrating seed {seed} on {recipe.data.dev}")
    dev_run = calibrate(matcher, prepared.main.dev)
    outcome = SeedOutcome(
        seed=seed,
        best_epoch=trained.best_epoch,
        dev=trained.best_value,
        history=trained.history,
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
    outcome.seconds = time.monotonic() - began
    matcher.to("cpu").save(folder / "matcher", model_card(prepared, outcome))
    return outcome


def _measure(
    condition: Condition,
    matcher: Matcher,
    folder: Path,
    observer: Observer,
    dev_run: Run | None,
) -> ConditionOutcome:
    """The matcher alone and, for a ranking, fused with BM25; the run is kept in `folder`."""
    test, dev, baseline = condition.test, condition.dev, condition.baseline
    run = test.run(matcher, observer.progress)
    write_run(folder / condition.run_file, run, tag=matcher.name)
    outcome = ConditionOutcome({matcher.name: test.evaluate(run, matcher.calibration)})
    if test.task == "ranking":
        measure, protocol = dev.measures[0], dev.protocol
        ours = dev_run or dev.run(matcher)
        weight = choose_weight(ours, baseline.dev, dev.split.qrels, measure, protocol)
        fused = fuse(run, baseline.test, weight)
        outcome.evaluations[f"BM25 + {matcher.name}"] = test.evaluate(fused)
        outcome.weight = weight
    return outcome

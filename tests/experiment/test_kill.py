"""`kill -9` at any moment loses nothing: real processes, real signals, equal bytes."""

import json
import os
import random
import time
from pathlib import Path

import pytest
from killed_runs import finish, kill, start, steps_kept, wait_for

from matchwork.experiment.results import read_result

RECIPE = """
[data]
name = "toy"
[model]
name = "knrm"
[vectors]
dim = 8
trainable = true
[train]
batch_size = 2
max_epochs = 15
learning_rate = 0.01
checkpoint_seconds = 0
accelerator = "cpu"
[run]
seeds = [1]
"""
STEPS = 90


def outcome(out: Path) -> tuple[bytes, bytes, object, object]:
    """Everything that is to be equal."""
    seed = out / "seed-1"
    result = read_result(out / "result.json")
    history = json.loads((seed / "outcome.json").read_text())["history"]
    for record in history:
        del record["seconds"]
    measured = {key: result[key] for key in ("measures", "systems", "per_query", "num_ties")}
    weights = (seed / "matcher" / "model.safetensors").read_bytes()
    return weights, (seed / "matcher" / "calibration.json").read_bytes(), measured, history


def kill_again_and_again(recipe: Path, out: Path, moments: list[float]) -> list[int]:
    """How many steps were kept after every kill.

    A moment is in seconds, and counts by turns from the start of the process and from its first
    checkpoint.
    """
    checkpoint, kept = out / "seed-1" / "training" / "last.ckpt", []

    def written() -> int:
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    for number, moment in enumerate(moments):
        before = written()
        process = start(recipe, out)
        if number % 2:
            wait_for(lambda before=before: written() != before, process)
        time.sleep(moment)
        kill(process)
        over = (out / "seed-1" / "outcome.json").exists()
        kept.append(STEPS if over else steps_kept(checkpoint))
    return kept


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks as on Unix")
def test_killed_runs_end_like_the_whole_one(tmp_path):
    recipe, whole, killed = (tmp_path / name for name in ("tiny.toml", "whole", "killed"))
    recipe.write_text(RECIPE)
    finish(recipe, tmp_path / "first")  # the server of the forks has imported all by now
    began = time.monotonic()
    finish(recipe, whole)
    length = time.monotonic() - began  # a slow or busy machine is hit in the same places
    chance = random.Random(7)
    moments = [chance.uniform(0.0, 0.1) * length for _ in range(8)]
    kept = kill_again_and_again(recipe, killed, moments)
    assert kept == sorted(kept), "a kill must not throw a run back"
    inside = {steps for steps in kept if 0 < steps < STEPS}
    assert len(inside) >= 2, f"the kills missed the training: {kept}"
    finish(recipe, killed)
    assert outcome(killed) == outcome(whole)
    told = json.loads((killed / "seed-1" / "outcome.json").read_text())
    assert told["seconds"] > 0.99 * sum(record["seconds"] for record in told["history"])

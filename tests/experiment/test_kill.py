"""`kill -9` at any moment loses nothing: real processes, real signals, equal bytes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
max_epochs = 30
learning_rate = 0.01
checkpoint_seconds = 0
accelerator = "cpu"
[run]
seeds = [1]
"""
STEPS = 180
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def outcome(out: Path) -> tuple[bytes, bytes, object, object]:
    """Everything that is to be equal."""
    seed = out / "seed-1"
    result = json.loads((out / "result.json").read_text())
    history = json.loads((seed / "outcome.json").read_text())["history"]
    for record in history:
        del record["seconds"]
    measured = {key: result[key] for key in ("measures", "systems", "per_query", "num_ties")}
    weights = (seed / "matcher" / "model.safetensors").read_bytes()
    return weights, (seed / "matcher" / "calibration.json").read_bytes(), measured, history


def run_whole_and_killed(recipe: Path, whole: Path, out: Path, moments: list[float]) -> list[int]:
    script = Path(__file__).with_name("killed_again_and_again.py")
    done = subprocess.run(
        [sys.executable, script, recipe, whole, out, *map(str, moments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def command(recipe: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "matchwork", "train", recipe, "--out", out, *more]
    return subprocess.Popen(
        [*map(str, arguments), "--quiet", "--results", str(out / "results")],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_command_in_training(recipe: Path, out: Path) -> None:
    process = command(recipe, out)
    try:
        deadline = time.monotonic() + 60
        while not (out / "seed-1" / "training" / "best.safetensors").exists():
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL and not (out / "result.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks as on Unix")
def test_killed_runs_end_like_the_whole_one(tmp_path):
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE)
    chance = random.Random(7)
    moments = [chance.uniform(0.0, 0.1) for _ in range(8)]
    kept = run_whole_and_killed(recipe, tmp_path / "whole", tmp_path / "killed", moments)
    assert kept == sorted(kept), "a kill must not throw a run back"
    inside = {steps for steps in kept if 0 < steps < STEPS}
    assert len(inside) >= 2, f"the kills missed the training: {kept}"
    expected = outcome(tmp_path / "whole")
    assert outcome(tmp_path / "killed") == expected

    kill_command_in_training(recipe, tmp_path / "command")
    resumed = command(recipe, tmp_path / "command", "--resume")
    _, message = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, message
    assert outcome(tmp_path / "command") == expected

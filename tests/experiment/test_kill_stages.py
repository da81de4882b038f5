"""`kill -9` inside any stage loses nothing: real processes, real signals, equal bytes."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from killed_runs import finish, kill, start, steps_kept, wait_for

RECIPE = """
[data]
name = "toy"
[model]
name = "iam"
units = 3
hidden = 3
[vectors]
dim = 4
[stage.language-model-query]
batch_size = 4
max_epochs = 8
patience = 8
[stage.language-model-document]
batch_size = 8
max_epochs = 4
[stage.energy]
batch_size = 64
max_epochs = 4
[train]
batch_size = 8
max_epochs = 4
checkpoint_seconds = 0
accelerator = "cpu"
[run]
seeds = [1]
"""
STAGES = ["language-model-query", "language-model-document", "energy"]


def outcome(out: Path) -> tuple[bytes, Any]:
    """Everything that is to be equal."""
    kept = json.loads((out / "seed-1" / "outcome.json").read_text())
    del kept["seconds"]
    for record in (*kept["history"], *kept["stages"]):
        del record["seconds"]
    return (out / "seed-1" / "matcher" / "model.safetensors").read_bytes(), kept


def kill_inside(recipe: Path, out: Path, stage: str) -> int:
    """How many steps of the stage are kept; 0 if it was over before the blow."""
    training = out / "seed-1" / "training"
    checkpoint = (training / "stages" / stage if stage else training) / "last.ckpt"
    process = start(recipe, out)
    wait_for(checkpoint.exists, process)
    time.sleep(0.02)
    kill(process)
    return steps_kept(checkpoint) or int((out / "seed-1" / "outcome.json").exists())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks as on Unix")
def test_a_run_killed_in_every_stage_ends_like_the_whole_one(tmp_path):
    recipe, *folders = (tmp_path / name for name in ("tiny.toml", "whole", "killed"))
    recipe.write_text(RECIPE)
    finish(recipe, folders[0])
    kept = [kill_inside(recipe, folders[1], stage) for stage in (*STAGES, "")]
    assert all(kept), f"the kills missed a stage: {kept}"
    finish(recipe, folders[1])
    whole, killed = map(outcome, folders)
    assert killed == whole
    assert [stage["name"] for stage in whole[1]["stages"]] == STAGES
    assert not any(stage["reused"] for stage in killed[1]["stages"])

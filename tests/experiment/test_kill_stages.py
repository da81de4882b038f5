"""`kill -9` inside any stage loses nothing: real processes, real signals, equal bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks as on Unix")
def test_a_run_killed_in_every_stage_ends_like_the_whole_one(tmp_path):
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE)
    script = Path(__file__).with_name("killed_in_stages.py")
    folders = tmp_path / "whole", tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, script, recipe, *folders, *STAGES, ""],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = [int(line) for line in done.stdout.split()]
    assert len(kept) == 4 and all(kept), f"the kills missed a stage: {kept}"
    whole, killed = map(outcome, folders)
    assert killed == whole
    assert [stage["name"] for stage in whole[1]["stages"]] == STAGES
    assert not any(stage["reused"] for stage in killed[1]["stages"])

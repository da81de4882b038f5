"""Commands stay easy to follow: few files on the way, and hardly a call back up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("walk", "max_files", "max_turns"), [("rank", 28, 1), ("train", 77, 2), ("rerank", 25, 1)]
)
def test_a_walk_is_short(walk: str, max_files: int, max_turns: int) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/walk.py", walk, "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["num_files"] <= max_files, found["files"]
    assert found["num_turns"] <= max_turns, found["turns"]

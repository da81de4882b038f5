"""An installed package outside the tree adds one of everything, each in one file."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "package"
ROOT = Path(__file__).parents[2]
RECIPE = """
import = ["matchwork_extras"]

[data]
name = "extras-legs"
measures = ["RR", "ExtrasLastWrong"]

[vectors]
source = "random"
dim = 8
trainable = true

[model]
name = "extras-best-match"

[train]
loss = "extras-squared-hinge"
negatives = "extras-neighbours"
max_epochs = 2

[run]
seeds = [1, 2]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package with pip into a folder of its own."""
    source = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("source") / "package")
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    options = ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([*pip, *options, str(source)], check=True, capture_output=True)
    return target


@pytest.fixture
def run(installed: Path, tmp_path: Path):
    """Run a Python program or a `matchwork` command beside the installed package."""

    def start(*arguments: str) -> str:
        path = os.pathsep.join([str(ROOT), str(installed)])
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return start


def test_all_names_are_known_by_the_entry_point(run, tmp_path) -> None:
    (tmp_path / "equals").mkdir()
    (tmp_path / "equals/test.equals").write_text("two and two = four\ntwo and three = five\n")
    program = """
import matchwork as mw
from matchwork.data.readers import READERS
from matchwork.evaluate import MEASURES
from matchwork.explain import VIEWS
from matchwork.serve.protocols import PROTOCOLS
from matchwork.text import TOKENIZERS
from matchwork.train import LOSSES, SAMPLERS

names = {
    "extras-best-match": mw.MODELS, "extras-squared-hinge": LOSSES, "extras-neighbours": SAMPLERS,
    "ExtrasLastWrong": MEASURES, "extras-equals": READERS, "extras-longest-word": VIEWS,
    "extras-best": PROTOCOLS, "extras-words": TOKENIZERS,
}
assert all(name in registry for name, registry in names.items())
assert len(mw.load_data("extras-legs")["test"].queries) == 4
assert list(mw.load_data("equals")["test"].queries.values())[0] == "two and two"
"""
    run("-c", program)


def test_a_recipe_trains_in_processes_and_the_matcher_opens(run, tmp_path) -> None:
    (tmp_path / "legs.toml").write_text(RECIPE)
    run("-m", "matchwork", "train", "legs.toml", "--out", "runs", "--jobs", "2", "--quiet")
    result = json.loads((tmp_path / "runs/result.json").read_text())
    assert result["settings"]["import"] == ["matchwork_extras"]
    assert set(result["measures"]) == {"RR", "ExtrasLastWrong"}
    folder = "runs/seed-1/matcher"
    (tmp_path / "answers.txt").write_text("a spider has 8 legs\nan ant has 6 legs\n")
    command = ["rank", folder, "--query", "how many legs has a spider", "--documents"]
    ranked = json.loads(run("-m", "matchwork", *command, "answers.txt", "--json"))
    assert {hit["id"] for hit in ranked} == {"1", "2"}
    pair = ["--query", "legs of a spider", "--document", "a spider has 8 legs"]
    shown = run("-m", "matchwork", "explain", folder, *pair)
    assert "longest" in shown and "Nearness of words" in shown


def test_the_service_speaks_its_protocol(run) -> None:
    program = """
import matchwork as mw
from starlette.testclient import TestClient
from matchwork.serve import create_app

with TestClient(create_app([mw.BM25.fit(["a red fox", "a blue whale"])])) as client:
    body = {"question": "fox", "answers": ["a whale", "a fox"]}
    assert client.post("/extras/best", json=body).json() == {"best": "a fox"}
"""
    run("-W", "ignore", "-c", program)

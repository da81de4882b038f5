"""Every example runs from start to end and says something."""

import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from matchwork.experiment import load_recipe, run_recipe
from matchwork.models import MODELS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEEDS_A_RUN = "lcs_figures"
LEFT_BEHIND = {
    "train_on_toy": ["runs/knrm/config.json"],
    "explain_a_pair": ["why.json", "why.html", "why.png"],
    "compare_runs": ["toy.qrels", "plain.run", "stemmed.run"],
    "add_a_model": ["runs/nearest-word/config.json"],
}
SAID = {
    "train_on_toy": "best epoch",
    "rerank": "shakespeare wrote the play hamlet around 1600\n2 ",
    "explain_a_pair": "tables: matching_0, matching_1, matching_2",
    "compare_runs": "p 1.000",
    "add_a_model": "picasso painted guernica",
    "langchain_retriever": "shakespeare wrote the play hamlet around 1600",
}


ALONE = [path for path in EXAMPLES if path.stem != NEEDS_A_RUN]


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    if path.stem.startswith("langchain"):
        pytest.importorskip("langchain_core")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(MODELS, "_entries", dict(MODELS._entries))  # one example adds a model
    runpy.run_path(str(path), run_name="__main__")
    assert SAID[path.stem] in capsys.readouterr().out
    assert all(Path(name).exists() for name in LEFT_BEHIND.get(path.stem, []))


def test_figures_of_a_trained_run(tmp_path, monkeypatch, capsys):
    recipe = load_recipe(ROOT / "recipes/lcs/match-srnn-adam.toml", ["train.max_epochs=1"])
    run_recipe(replace(recipe, run=replace(recipe.run, seeds=(1,))), tmp_path / "run")
    out = tmp_path / "figures.json"
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "run"), "--out", str(out)])
    runpy.run_path(str(ROOT / "examples" / f"{NEEDS_A_RUN}.py"), run_name="__main__")
    assert "path_agreement" in capsys.readouterr().out
    found = json.loads(out.read_text())["runs"]["run"]
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert found["mean"]["mse"] == pytest.approx(result["measures"]["MSE"]["mean"], rel=1e-5)
    assert found["mean"]["exact"] == pytest.approx(result["measures"]["Exact"]["mean"])


def test_no_example_is_left_out():
    assert {path.stem for path in ALONE} == set(SAID)

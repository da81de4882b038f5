import json
from pathlib import Path

import pytest

RECIPE = """
[data]
name = "toy"
[model]
name = "bag"
[vectors]
trainable = true
[train]
max_epochs = 1
accelerator = "cpu"
"""
SWEEP = """
base = "tiny.toml"
[sweep]
"vectors.dim" = [2, 4]
[chart]
measure = "AP"
"""


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(RECIPE)
    Path("widths.toml").write_text(SWEEP)
    return "widths.toml"


def test_sweep_trains_says_where_and_draws_again(call, call_json, sweep):
    result = call("sweep", sweep)
    assert result.exit_code == 0, result.stderr
    for suffix in ("json", "svg", "html"):
        name = f"results/sweeps/widths.{suffix}"
        assert f"written  {name}" in result.stdout and Path(name).exists()
    assert "dim=2" in result.stdout and "dim=4" in result.stdout
    assert "2 seeds to train" in result.stderr and "dim=4  seed 1  best epoch 1" in result.stderr
    assert len(list(Path("runs/sweeps/widths").glob("dim=*/seed-1/matcher"))) == 2

    picture = Path("results/sweeps/widths.svg")
    drawn = picture.read_text()
    picture.unlink()
    again = call("sweep", "--draw", "results/sweeps/widths.json")
    assert again.exit_code == 0 and "dim=2" in again.stdout
    assert picture.read_text() == drawn
    resumed = call_json("sweep", sweep, "--resume")
    assert resumed == json.loads(Path("results/sweeps/widths.json").read_text())


def test_a_changed_sweep_is_kept_out_of_the_results(call, sweep):
    arguments = ["--set", "run.seeds=[2]", "--only", "vectors.dim=4", "--out", "x", "--quiet"]
    result = call("sweep", sweep, *arguments)
    assert result.exit_code == 0 and result.stderr == ""
    assert "missing  1 of 2 combinations not trained yet" in result.stdout
    assert Path("x/widths.json").exists() and not Path("results").exists()


def test_a_failure_is_told_and_the_rest_is_kept(call, sweep):
    text = RECIPE.replace('"toy"', '"pairs.tsv"') + "[text]\nlowercase = true\n"
    Path("tiny.toml").write_text(text)
    Path("pairs.tsv").write_text("query\tdocument\tlabel\na\tb\t7x\n")
    result = call("sweep", sweep)
    assert result.exit_code == 1 and "failed: dim=2: pairs.tsv" in result.stderr
    assert "2 of 2 combinations failed" in result.stderr and "--resume" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a sweep to run, or a result to --draw"),
        (["tiny.toml"], "a recipe is run with matchwork train tiny.toml"),
        (["widths.toml", "--only", "vectors.dim=3"], "vectors.dim is never 3"),
        (["widths.toml", "--set", "vectors.dim=3"], "both set and swept"),
        (["none.toml"], "cannot read sweep none.toml"),
    ],
)
def test_wrong_calls_stop_before_work(call, sweep, arguments, message):
    result = call("sweep", *arguments)
    assert result.exit_code == 2 and message in result.stderr
    assert not Path("runs").exists()


def test_train_says_what_a_sweep_is(call, sweep):
    result = call("train", sweep)
    assert result.exit_code == 2 and "run it with matchwork sweep widths.toml" in result.stderr

import json
from pathlib import Path

import pytest

RECIPE = """
[data]
name = "toy"
[model]
name = "bag"
[vectors]
dim = 8
trainable = true
[train]
max_epochs = 2
accelerator = "cpu"
[run]
seeds = [1]
[paper]
AP = 0.9
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE)
    return path


def test_train_measures_saves_and_says_where(call, call_json, recipe):
    result = call("train", recipe)
    assert result.exit_code == 0, result.stderr
    for name in ("runs/toy/tiny/seed-1/matcher", "runs/toy/tiny/result.json"):
        assert name in result.stdout and Path(name).exists()
    assert "0.9000" in result.stdout and "BM25 + bag" in result.stdout
    assert "epoch 2" in result.stderr and "best so far" in result.stderr
    kept = json.loads(Path("results/toy/tiny.json").read_text())
    assert kept["measures"]["AP"]["paper"] == 0.9

    again = call("train", recipe)
    assert again.exit_code == 2 and "--resume" in again.stderr
    resumed = call_json("train", recipe, "--resume")
    assert resumed["measures"] == kept["measures"]

    found = call_json("results")
    assert [one["recipe"] for one in found] == ["tiny"] and "per_query" not in found[0]
    shown = call("results", "--write")
    assert "bag" in shown.stdout and Path("results/README.md").exists()


def test_several_recipes_in_one_command(call, call_json, recipe):
    other = recipe.with_name("wide.toml")
    other.write_text(RECIPE.replace("dim = 8", "dim = 12"))
    result = call("train", recipe, other)
    assert result.exit_code == 0, result.stderr
    assert "tiny on toy (test)" in result.stdout and "wide on toy (test)" in result.stdout
    assert "toy/wide  seed 1" in result.stderr
    for name in ("tiny", "wide"):
        assert Path(f"runs/toy/{name}/seed-1/matcher").exists()
        assert json.loads(Path(f"results/toy/{name}.json").read_text())["recipe"] == name
    Path("runs/toy/wide/result.json").unlink()
    again = call_json("train", recipe, other, "--resume", "--jobs", "2")
    assert [one["recipe"] for one in again["results"]] == ["tiny", "wide"] and not again["failed"]
    assert call("train", recipe, recipe, "--resume").exit_code == 2


def test_a_recipe_that_fails_leaves_the_others_their_results(call, recipe):
    other = recipe.with_name("wide.toml")
    other.write_text(RECIPE.replace("dim = 8", "dim = 12"))
    Path("runs/toy/tiny/seed-1/training").mkdir(parents=True)
    Path("runs/toy/tiny/seed-1/training/last.ckpt").write_text("of another run")
    result = call("train", recipe, other)
    assert result.exit_code == 1 and "1 of 2 recipes failed" in result.stderr
    assert "failed   toy/tiny" in result.stdout and "wide on toy (test)" in result.stdout
    assert Path("results/toy/wide.json").exists() and not Path("results/toy/tiny.json").exists()


def test_every_condition_has_its_table_and_its_run(call, call_json, recipe):
    recipe.write_text(RECIPE + '[also.easy]\ntest = "dev"\n')
    result = call("train", recipe)
    assert result.exit_code == 0, result.stderr
    assert "tiny on toy (test)" in result.stdout and "tiny on toy (dev, easy)" in result.stdout
    assert "measuring seed 1 on dev, easy" in result.stderr
    run = "runs/toy/tiny/seed-1/test.easy.run"
    assert run in result.stdout and Path(run).exists()
    (found,) = call_json("results")
    assert found["also"]["easy"]["split"] == "dev" and "per_query" not in found["also"]["easy"]
    page = call("results", "--write").stdout
    assert "toy, easy" in page


def test_a_changed_recipe_is_kept_out_of_the_results(call, recipe):
    result = call("train", recipe, "--set", "train.max_epochs=1", "--out", "x", "--quiet")
    assert result.exit_code == 0 and result.stderr == ""
    assert not Path("results").exists()
    settings = json.loads(Path("x/result.json").read_text())["settings"]
    assert settings["train"]["max_epochs"] == 1


def test_seeds_and_results_folder(call_json, recipe):
    result = call_json("train", recipe, "--seeds", "3,4", "--results", "kept")
    assert result["seeds"] == [3, 4] and Path("kept/toy/tiny.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "train.max_epoch=1"], "did you mean 'max_epochs'"),
        (["--set", "modle.name=bag"], "did you mean 'model'"),
        (["--set", "model.name=bga"], "did you mean 'bag'"),
        (["--set", "data.measures=['APP']"], "did you mean 'AP'"),
        (["--set", "train"], "section.key=value"),
        (["--seeds", "one"], "--seeds takes whole numbers"),
    ],
)
def test_wrong_settings_stop_before_work(call, recipe, arguments, message):
    result = call("train", recipe, *arguments)
    assert result.exit_code == 2 and message in result.stderr
    assert not Path("runs").exists()


def test_missing_recipe(call):
    result = call("train", "none.toml")
    assert result.exit_code == 2 and "cannot read recipe none.toml" in result.stderr


def test_no_results_yet(call, tmp_path):
    result = call("results", "--results", tmp_path)
    assert result.exit_code == 1 and "no results here" in result.stderr

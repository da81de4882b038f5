"""`[stage.NAME]` sections of a recipe, and a run that reuses what another has learnt."""

import json

import pytest
from typer.testing import CliRunner

from matchwork.cli.main import app
from matchwork.errors import ConfigError
from matchwork.experiment import Observer, load_recipe, run_recipe

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
max_epochs = 2
[stage.language-model-document]
max_epochs = 1
[stage.energy]
max_epochs = 1
batch_size = 64
[train]
batch_size = 8
max_epochs = 1
accelerator = "cpu"
[run]
seeds = [1]
"""
STAGES = ["language-model-query", "language-model-document", "energy"]


class Noted(Observer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.epochs: list[tuple[int, str, float]] = []

    def stage(self, text: str) -> None:
        self.said.append(text)

    def stage_epoch(self, seed, name, record) -> None:
        self.epochs.append((seed, name, record["epoch"]))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCHWORK_STAGE_CACHE", str(tmp_path / "cache"))


def test_settings_of_every_stage_are_complete(write_recipe):
    recipe = load_recipe(write_recipe(RECIPE))
    assert list(recipe.stages) == STAGES
    assert recipe.stages["language-model-query"].max_epochs == 2
    table = recipe.to_dict()["stage"]
    assert table["energy"]["batch_size"] == 64 and table["energy"]["learning_rate"] == 0.01


def test_a_stage_is_part_of_the_hash(write_recipe):
    path = write_recipe(RECIPE)
    plain = load_recipe(path)
    changed = load_recipe(path, ["stage.energy.steps=2"])
    assert changed.stages["energy"].steps == 2 and changed.hash != plain.hash
    assert load_recipe(path, ["stage.energy.max_epochs=1"]).hash == plain.hash


def test_recipes_without_stages_are_what_they_were(write_recipe):
    recipe = load_recipe(write_recipe())
    assert recipe.stages == {} and "stage" not in recipe.to_dict()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["stage.enrgy.steps=2"], r"section \[stage\]: no stage named 'enrgy'; did you mean 'ene"),
        (["stage.energy.step=2"], r"section \[stage\]: energy: unknown key 'step'; did you mean"),
        (["stage.energy.steps=0"], r"section \[stage\]: energy: steps must be at least 1, got 0"),
        (["stage.energy=2"], r"section \[stage\]: energy must be a table of settings, got 2"),
        (["model.name=iam-no-jump"], r"section \[stage\]: no stage named 'energy'"),
        (["model.name=knrm"], "this model has no stages, so leave 'language-model-query' out"),
    ],
)
def test_a_section_without_effect_is_a_mistake(write_recipe, overrides, message):
    text = RECIPE
    if overrides == ["model.name=knrm"]:
        text = text.replace("units = 3\nhidden = 3\n", "")
    with pytest.raises(ConfigError, match=message):
        load_recipe(write_recipe(text), overrides)


def test_another_matcher_reuses_the_stages(write_recipe, tmp_path):
    path = write_recipe(RECIPE)
    first, second = Noted(), Noted()
    result = run_recipe(load_recipe(path), tmp_path / "first", observer=first)
    assert first.said[3:8] == [
        "training seed 1 (1 of 1)",
        *(f"training stage {name} ({n} of 3) of seed 1" for n, name in enumerate(STAGES, start=1)),
        "training the whole model of seed 1",
    ]
    assert first.epochs == [
        (1, STAGES[0], 1),
        (1, STAGES[0], 2),
        (1, STAGES[1], 1),
        (1, "energy", 1),
    ]
    stages = result["per_seed"][0]["stages"]
    assert [stage["name"] for stage in stages] == STAGES
    assert [stage["epochs"] for stage in stages] == [2, 1, 1]
    assert not any(stage["reused"] for stage in stages)
    assert (
        json.loads((tmp_path / "first/result.json").read_text())["per_seed"][0]["stages"] == stages
    )

    wider = load_recipe(path, ["model.hidden=5", "train.learning_rate=0.2"])
    result = run_recipe(wider, tmp_path / "second", observer=second)
    assert [text for text in second.said if "stage" in text] == [
        f"reusing stage {name} ({n} of 3) of seed 1" for n, name in enumerate(STAGES, start=1)
    ]
    again = result["per_seed"][0]["stages"]
    assert all(stage["reused"] for stage in again) and second.epochs == []
    assert [stage["hash"] for stage in again] == [stage["hash"] for stage in stages]

    without = load_recipe(
        write_recipe(RECIPE.replace("[stage.energy]\nmax_epochs = 1\nbatch_size = 64\n", "")),
        ["model.name=iam-no-jump"],
    )
    result = run_recipe(without, tmp_path / "third")
    assert [stage["reused"] for stage in result["per_seed"][0]["stages"]] == [True, True]


@pytest.mark.parametrize(
    ("change", "reused"),
    [
        ("stage.language-model-query.learning_rate=0.002", [False, True, True]),
        ("stage.language-model-document.learning_rate=0.002", [True, False, False]),
        ("text.max_query_length=3", [False, True, True]),
        ("text.max_document_length=3", [True, False, False]),
        ("vectors.trainable=true", [True, True, True]),
    ],
)
def test_a_stage_depends_on_what_it_reads(write_recipe, tmp_path, change, reused):
    path, found = write_recipe(RECIPE), []
    for name, changes in (("first", []), ("second", [change])):
        result = run_recipe(load_recipe(path, changes), tmp_path / name)
        found.append(result["per_seed"][0]["stages"])
    assert [stage["reused"] for stage in found[1]] == reused


@pytest.mark.slow
def test_seeds_side_by_side(write_recipe, tmp_path):
    recipe, noted = load_recipe(write_recipe(RECIPE), ["run.seeds=[1, 2]"]), Noted()
    result = run_recipe(recipe, tmp_path / "out", jobs=2, observer=noted)
    hashes = [stage["hash"] for seed in result["per_seed"] for stage in seed["stages"]]
    assert len(set(hashes)) == 6 == len(list((tmp_path / "cache").iterdir()))
    assert (2, "energy", 1) in noted.epochs


def test_the_command_says_which_stage_runs(write_recipe, tmp_path):
    command = ["train", str(write_recipe(RECIPE)), "--results", str(tmp_path / "results")]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "one")])
    assert done.exit_code == 0, done.output
    assert "training stage energy (3 of 3) of seed 1" in done.stderr
    assert "seed 1  language-model-query  epoch 2  loss" in done.stderr
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "two")])
    assert done.exit_code == 0 and "reusing stage energy (3 of 3) of seed 1" in done.stderr

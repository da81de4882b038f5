"""A sweep is right, or an error says which combination is not, before any work."""

import pytest

from matchwork.errors import ConfigError, MatchworkError
from matchwork.experiment import load_recipe
from matchwork.experiment.sweep import load_sweep

SWEEP = """
base = "tiny.toml"
[sweep]
"vectors.dim" = [4, 8]
"model.name" = ["bag", "knrm"]
[set]
"run.seeds" = [1]
[chart]
measure = "MAP"
title = "Width"
"""


@pytest.fixture
def write_sweep(write_recipe, tmp_path):
    """`write_sweep(text)`: the path of a sweep beside the recipe `tiny.toml`."""
    write_recipe()

    def write(text=SWEEP):
        path = tmp_path / "widths.toml"
        path.write_text(text)
        return path

    return write


def test_every_combination_is_the_base_with_its_values(write_sweep, write_recipe):
    sweep = load_sweep(write_sweep())
    assert [tuple(one.values.values()) for one in sweep.combinations] == [
        (4, "bag"),
        (4, "knrm"),
        (8, "bag"),
        (8, "knrm"),
    ]
    last = sweep.combinations[-1]
    assert last.label == "dim=8, name=knrm"
    settings = ["vectors.dim=8", "model.name=knrm", "run.seeds=[1]"]
    plain = load_recipe(write_recipe(), settings)
    assert last.recipe.to_dict() == {**plain.to_dict(), "paper": {}}  # the paper is the base's
    assert sweep.charts[0].measure == "AP"


def test_keys_may_be_written_without_quotes(write_sweep):
    bare = SWEEP.replace('"vectors.dim"', "vectors.dim").replace('"run.seeds"', "run.seeds")
    assert load_sweep(write_sweep(bare)) == load_sweep(write_sweep())


def test_other_settings_have_other_folders(write_sweep):
    first = load_sweep(write_sweep())
    changed = load_sweep(write_sweep(), ["train.max_epochs=1"])
    folders = {one.folder for sweep in (first, changed) for one in sweep.combinations}
    assert len(folders) == 8


def test_only(write_sweep):
    sweep = load_sweep(write_sweep())
    assert sweep.only([]) == list(sweep.combinations)
    (one,) = sweep.only(["model.name=bag", "vectors.dim=8"])
    assert one.values == {"vectors.dim": 8, "model.name": "bag"}
    with pytest.raises(ConfigError, match=r"--only model.nam=bag.*did you mean 'model.name'"):
        sweep.only(["model.nam=bag"])
    with pytest.raises(ConfigError, match=r"vectors.dim is never 5; its values are 4, 8"):
        sweep.only(["vectors.dim=5"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('base = "tiny.toml"', "", r"widths.toml: key 'base' is missing"),
        ("tiny.toml", "none.toml", r"cannot read the base of .*widths.toml, .*none.toml: No such"),
        ("[set]", "[sett]", r"unknown key 'sett'; did you mean 'set'"),
        ("[4, 8]", "[]", r"\[sweep\]: vectors.dim = \[\]: a list of values"),
        ("[4, 8]", "4", r"\[sweep\]: vectors.dim = 4: a list of values"),
        ("[4, 8]", "[4, 8, 4]", r"\[sweep\]: vectors.dim names 4 twice"),
        ("[4, 8]", "[4, -8]", r"with vectors.dim = -8, model.name = bag: .*dim"),
        ('"vectors.dim"', '"vectors.dims"', r"with vectors.dims = 4.*did you mean 'dim'"),
        ('"vectors.dim"', "dim", r"'dim' is in no section"),
        ('"vectors.dim"', '"data.name.x"', r"\[sweep\]: data.name.x: name is not a section"),
        ('"knrm"', '"knmr"', r"with vectors.dim = 4, model.name = knmr: .*did you mean 'knrm'"),
        ('"run.seeds"', '"vectors.dim"', r"vectors.dim is both set and swept"),
        ('"vectors.dim" = [4, 8]', '"run.seeds" = [[1], [2]]', r"run.seeds is both set and"),
        ('measure = "MAP"', "", r"\[chart\]: .*either a measure or a curve"),
        ('"MAP"', '"MPA"', r"\[chart\]"),
        ('"MAP"', '"P@5"', r"P@5 will not be measured"),
        ('measure = "MAP"', 'curve = "loss"', r"no curve 'loss'; did you mean 'dev_loss'"),
        ('measure = "MAP"', 'curve = "dev_loss"', r"at most one key, here over .*fix some with"),
        (
            'measure = "MAP"',
            'curve = "dev_loss"\nwhere = {"vectors.dim" = 4}',
            r'add "train.dev_loss_every" = 100 \(batches\) to \[set\]',
        ),
        ("title =", 'where = {"vectors.dim" = 5}\ntitle =', r"vectors.dim is never 5"),
        ("title =", "tilte =", r"unknown key 'tilte'; did you mean 'title'"),
    ],
)
def test_wrong_sweeps(write_sweep, old, new, message):
    assert old in SWEEP
    with pytest.raises(MatchworkError, match=message):
        load_sweep(write_sweep(SWEEP.replace(old, new)))


def test_combinations_that_are_the_same_experiment(write_sweep):
    twice = SWEEP.replace("[4, 8]", '[4, "4"]')
    with pytest.raises(ConfigError, match=r"dim = 4, model.name = bag is the same experiment as"):
        load_sweep(write_sweep(twice))


def test_a_sweep_is_no_recipe_and_a_recipe_no_sweep(write_sweep, write_recipe):
    with pytest.raises(ConfigError, match=r"is a sweep, not a recipe; run it with matchwork sweep"):
        load_recipe(write_sweep())
    with pytest.raises(ConfigError, match=r"no section \[sweep\]; a recipe is run with matchwork"):
        load_sweep(write_recipe())


def test_a_chart_of_dev_shows_what_is_measured_there(write_sweep):
    on_dev = SWEEP.replace('measure = "MAP"', 'measure = "RR"\nsplit = "dev"')
    assert load_sweep(write_sweep(on_dev)).charts[0].split == "dev"
    with pytest.raises(ConfigError, match="MAP is not measured on dev, only"):
        load_sweep(write_sweep(on_dev.replace('"RR"', '"MAP"')))
    curve = SWEEP.replace('measure = "MAP"', 'curve = "dev_loss"\nsplit = "dev"')
    with pytest.raises(ConfigError, match="split is for a measure"):
        load_sweep(write_sweep(curve))

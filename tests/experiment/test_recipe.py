"""A recipe is right, or an error says where it is not, before any work."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from matchwork.errors import ConfigError, DataError, UnknownNameError
from matchwork.experiment import load_recipe
from matchwork.experiment.recipe import inputs, make_recipe
from matchwork.experiment.recipe.data import ConditionSection
from matchwork.experiment.recipe.files import to_toml
from matchwork.models import MODELS

RECIPES = Path(__file__).parents[2] / "recipes"
COMMITTED = sorted(set(RECIPES.rglob("*.toml")) - set((RECIPES / "sweeps").iterdir()))


def test_a_complete_recipe(write_recipe):
    made = load_recipe(write_recipe())
    assert made.name == "tiny" and made.model_name == "bag" and made.dataset_folder == "toy"
    assert made.data.measures == ("AP", "RR", "P@1") and made.run.seeds == (3, 5)
    assert made.paper == {"AP": 0.9, "source": "Table 1"}
    # the model's own training settings fill what the recipe leaves open
    assert (made.train.loss, made.train.negatives) == ("softmax", "in-batch")
    assert made.train.max_epochs == 3


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("modle.name=bag", r"tiny\.toml: unknown section \[modle\]; did you mean 'model'\?"),
        ("data.nam=toy", r"tiny\.toml: section \[data\]: unknown key 'nam'; did you mean 'name'"),
        ("train.max_epoch=1", r"section \[train\]: unknown key 'max_epoch'; did you mean 'max_ep"),
        ("model.scal=1", r"section \[model\]: unknown key 'scal'; did you mean 'scale'"),
        ("vectors.dims=1", r"section \[vectors\]: unknown key 'dims'; did you mean 'dim'"),
        ("text.stemm=english", r"section \[text\]: unknown key 'stemm'; did you mean 'stem'"),
        ("run.seed=1", r"section \[run\]: unknown key 'seed'; did you mean 'seeds'"),
        ("model.name=bga", "no model named 'bga'; did you mean 'bag'"),
        ("model.name=7", r"section \[model\]: key 'name' is missing; known: addax"),
        ("train.max_epochs=few", r"section \[train\]: max_epochs = 'few'"),
        ("train.learning_rate=fast", r"section \[train\]: learning_rate = 'fast'"),
        ("train.loss=hing", r"section \[train\]: no loss named 'hing'; did you mean 'hinge'"),
        ("train.batch_size=0", "batch_size must be at least 1, got 0"),
        ("train.dev_measure=RRR", "no measure named 'RRR'; did you mean"),
        ("train.dev_measure=F1", "train.dev_measure = 'F1' does not measure ranking"),
        ("data.measures=['APP']", "no measure named 'APP'; did you mean 'AP'"),
        ("data.measures=['AP', 'F1']", "data.measures = 'F1' does not measure ranking"),
        ("data.protocol=claen", r"tiny\.toml: no protocol 'claen'; did you mean 'clean'"),
        ("data.depth=-1", r"section \[data\]: depth must be 0 \(all\) or more, got -1"),
        ("data.dev_depth=-2", r"section \[data\]: dev_depth must be 0 \(all\) or more, got -2"),
        ("data.fraction=0.0", r"section \[data\]: fraction must be above 0 and at most 1, got 0"),
        ("data.fraction=1.5", r"section \[data\]: fraction must be above 0 and at most 1, got 1.5"),
        ("data.dev_fraction=0.0", r"\[data\]: dev_fraction must be above 0 and at most 1, got 0"),
        ("also.x.fraction=0.5", r"\[also\.x\]: a condition cannot change 'fraction'"),
        ("train.warmup=0.1", r'section \[train\]: warmup = 0\.1 needs schedule = "linear"'),
        ("also.x=3", r"section \[also\.x\]: a table of changes to \[data\] is expected, got 3"),
        ("also.main.depth=3", r"section \[also\.main\]: a condition is named .* and not 'main'"),
        ("also.a/b.depth=3", r"\[also\.a/b\]: a condition is named with letters.*got 'a/b'"),
        ("also.x.train=dev", r"\[also\.x\]: a condition cannot change 'train'; known: depth"),
        ("also.x.dept=3", r"\[also\.x\]: a condition cannot change 'dept'; did you mean 'depth'"),
        ("also.x.depth=-3", r"section \[also\.x\]: depth must be 0 \(all\) or more, got -3"),
        ("also.x.depth=few", r"section \[also\.x\]: depth = 'few'"),
        ("also.x.test=tset", r"section \[also\.x\]: toy has no split 'tset'; did you mean 'test'"),
        ("also.x.protocol=claen", r"\[also\.x\]: no protocol 'claen'; did you mean 'clean'"),
        ("also.x.options.pool=full", r"\[also\.x\]: toy has no option 'pool'; there are none"),
        ("also.x.measures=['F1']", r"also\.x\.measures = 'F1' does not measure ranking"),
        ("also.x.paper=3", r"section \[also\.x\]: paper must be a table, got 3"),
        ("also.x.paper.AP=good", r"section \[also\.x\]: AP = 'good': a published number"),
        ("data.dev=valid", "toy has no split 'valid'; known: dev, test, train"),
        ("text.max_query_length=-1", "max_query_length must not be negative, got -1"),
        ("text.lowercase=maybe", r"section \[text\]: lowercase = 'maybe'"),
        ("vectors.dim=0", "dim must be at least 1, got 0"),
        ("vectors.source=file", 'source = "file" and file belong together'),
        ("vectors.words=w.txt", "words name the rows of a file, got 'w.txt' without one"),
        ("run.seeds=[]", r"seeds must be different numbers, got \[\]"),
        ("run.seeds=[1, 1]", r"seeds must be different numbers, got \[1, 1\]"),
        ("run.seeds=[-1]", "seeds must not be negative, got -1"),
        ("paper.AP=good", r"section \[paper\]: AP = 'good': a published number is expected"),
        ("paper.APP=0.5", "no measure named 'APP'"),
        ("train", "--set takes section.key=value, got 'train'"),
        ("train=3", "--set takes section.key=value, got 'train=3'"),
        (".x=3", "--set takes section.key=value"),
        ("train.loss.kind=3", "--set train.loss.kind=3: loss is not a section"),
    ],
)
def test_a_wrong_setting_is_named(write_recipe, override, message):
    with pytest.raises(ConfigError, match=message):
        load_recipe(write_recipe(), ["train.loss=softmax", override])


def test_wrong_files(write_recipe, tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read recipe .*none\.toml: No such file"):
        load_recipe(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"tiny\.toml: not valid TOML: .*line 1"):
        load_recipe(write_recipe("[data\nname = 'toy'"))
    path = write_recipe()
    path.write_bytes(b"[data]\nname = '\xff'")
    with pytest.raises(ConfigError, match=r"tiny\.toml: not valid TOML"):
        load_recipe(path)
    with pytest.raises(ConfigError, match=r"data must be a section \[data\], got 'toy'"):
        load_recipe(write_recipe("data = 'toy'"))
    with pytest.raises(ConfigError, match=r"section \[data\]: key 'name' is missing"):
        load_recipe(write_recipe("[model]\nname = 'bag'"))


def test_unknown_data(write_recipe):
    with pytest.raises(DataError, match="'toyy' is neither a known data set nor a path; did you"):
        load_recipe(write_recipe(), ["data.name=toyy"])


@pytest.mark.parametrize("key", ["file", "words"])
def test_missing_vectors_are_found_out_at_once(write_recipe, tmp_path, key):
    (tmp_path / "there.txt").write_text("a 1 2\n")
    files = {"file": tmp_path / "there.txt", "words": tmp_path / "there.txt"}
    files[key] = tmp_path / "gone.txt"
    overrides = ["vectors.source=file", *(f"vectors.{k}={v}" for k, v in files.items())]
    with pytest.raises(
        DataError, match=r"no word-vector file '.*gone\.txt'; set MATCHWORK_VECTORS"
    ):
        load_recipe(write_recipe(), overrides)


def test_vectors_are_looked_for_beside_the_data(write_recipe, tmp_path, monkeypatch):
    (tmp_path / "pretrained").mkdir()
    (tmp_path / "pretrained" / "v.txt").write_text("a 1 2\n")
    settings = ["vectors.source=file", "vectors.file=v.txt"]
    load_recipe(write_recipe(), settings, data_root=tmp_path / "data")
    monkeypatch.setenv("MATCHWORK_VECTORS", str(tmp_path / "pretrained"))
    load_recipe(write_recipe(), settings)


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("train.max_epochs=7", "train", "max_epochs", 7),
        ("train.learning_rate = 3e-4", "train", "learning_rate", 3e-4),
        ("train.loss=cross-entropy", "train", "loss", "cross-entropy"),
        ('train.loss="squared"', "train", "loss", "squared"),
        ("text.bigrams=true", "text", "bigrams", True),
        ("text.stem=english", "text", "stem", "english"),
        ("run.seeds=[7, 8]", "run", "seeds", (7, 8)),
        ("train.dev_measure=MAP", "train", "dev_measure", "AP"),
    ],
)
def test_overrides(write_recipe, override, section, key, value):
    assert getattr(getattr(load_recipe(write_recipe(), [override]), section), key) == value


def test_options_of_the_data(write_recipe):
    made = load_recipe(write_recipe(), ["data.name=pubmed", "data.options.pool=full"])
    assert made.data.options == {"pool": "full"}
    with pytest.raises(ConfigError, match="pubmed has no option 'pol'; did you mean 'pool'"):
        load_recipe(write_recipe(), ["data.name=pubmed", "data.options.pol=full"])
    with pytest.raises(ConfigError, match="toy has no option 'root'; there are none"):
        load_recipe(write_recipe(), ["data.options.root=x"])


def test_a_condition_is_the_data_section_with_changes(write_recipe):
    settings = ["data.depth=0", "data.dev_depth=20", "data.measures=['AP']"]
    settings += ["also.deep.depth=50", "also.deep.paper.MAP=0.4", "also.clean.protocol=clean"]
    made = load_recipe(write_recipe(), settings)
    assert list(made.conditions) == ["main", "deep", "clean"]
    assert made.conditions["main"] == ConditionSection(made.data, made.paper)
    # a depth of its own holds for its dev too; what is not changed stays
    assert made.also["deep"].data == replace(made.data, depth=50, dev_depth=None)
    assert made.also["deep"].paper == {"AP": 0.4}
    assert made.also["clean"].data == replace(made.data, protocol="clean")
    assert made.also["clean"].paper == {}
    table = made.to_dict()["also"]["deep"]
    assert (table["depth"], table["measures"], table["paper"]) == (50, ["AP"], {"AP": 0.4})
    assert "name" not in table and "train" not in table


def test_conditions_are_part_of_the_identity_only_where_there_are_any(write_recipe):
    base = load_recipe(write_recipe())
    assert "also" not in base.to_dict()
    one = load_recipe(write_recipe(), ["also.x.depth=5"])
    assert len({base.hash, one.hash, load_recipe(write_recipe(), ["also.x.depth=6"]).hash}) == 3


def test_the_last_override_wins(write_recipe):
    made = load_recipe(write_recipe(), ["model.scale=5", "model.scale=6"])
    assert made.model.scale == 6.0


def test_the_hash_is_the_settings(write_recipe):
    base = load_recipe(write_recipe())
    assert base.hash == load_recipe(write_recipe()).hash == replace(base, name="other").hash
    changes = ["data.depth=7", "text.bigrams=true", "vectors.dim=9", "model.scale=3"]
    changes += ["train.max_epochs=4", "run.seeds=[3]", "paper.AP=0.8", "model.name=knrm"]
    hashes = {load_recipe(write_recipe(), [change]).hash for change in changes}
    assert len(hashes | {base.hash}) == len(changes) + 1


def test_settings_are_compared_key_by_key(write_recipe):
    """A key that older settings lack has its default."""
    recipe = load_recipe(write_recipe())
    settings = recipe.to_dict()
    assert recipe.differences(settings) == []
    del settings["train"]["dev_loss_every"], settings["data"]["fuse_with"]
    assert recipe.differences(settings) == []
    settings["train"]["max_epochs"] = 9
    del settings["vectors"]["dim"]
    assert recipe.differences(settings) == ["train.max_epochs", "vectors.dim"]
    settings["train"]["gone"] = 1
    assert "unknown key 'gone'" in recipe.differences(settings)[0]


@pytest.fixture
def family(write_recipe, tmp_path):
    """`family(text, name)`: the path of a recipe beside `tiny.toml`."""
    write_recipe()

    def write(text, name="child"):
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return path

    return write


def test_a_base_is_merged_key_by_key(family, write_recipe):
    path = family('base = "tiny.toml"\n[vectors]\ndim = 9\n[train]\nmax_epochs = 4')
    plain = load_recipe(write_recipe(), ["vectors.dim=9", "train.max_epochs=4"])
    assert load_recipe(path) == replace(plain, name="child", paper={})  # published about the base
    family('base = "child.toml"\n[model]\nname = "knrm"', "grandchild")
    made = load_recipe(path.with_name("grandchild.toml"), ["vectors.dim=5"])
    assert (made.model_name, made.vectors.dim, made.train.max_epochs) == ("knrm", 5, 4)


def test_wrong_bases(family):
    with pytest.raises(ConfigError, match=r"cannot read the base of .*child\.toml, .*none\.toml"):
        load_recipe(family('base = "none.toml"'))
    with pytest.raises(ConfigError, match=r"base = 3: the path of another recipe is expected"):
        load_recipe(family("base = 3"))
    family('base = "child.toml"', "other")
    with pytest.raises(ConfigError, match=r"makes a cycle: child\.toml -> other\.toml -> child\.t"):
        load_recipe(family('base = "other.toml"'))


def test_modules_are_imported_first(family, tmp_path, monkeypatch):
    (tmp_path / "their_model.py").write_text(
        "from matchwork.models import MODELS\nMODELS.add('theirs', MODELS['bag'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = family('base = "tiny.toml"\nimport = ["their_model"]\n[model]\nname = "theirs"')
    made = load_recipe(path)
    try:
        assert made.to_dict()["import"] == ["their_model"] and made.model_name == "theirs"
        assert make_recipe("child", made.to_dict(), "json") == made
    finally:
        del MODELS._entries["theirs"]
    with pytest.raises(ConfigError, match=r"import: module 'their_modle' is not installed"):
        load_recipe(family('import = ["their_modle"]'))
    with pytest.raises(ConfigError, match="import = 'their_model': a list of modules is expected"):
        load_recipe(family('import = "their_model"'))


def test_resolved_settings_as_toml(write_recipe):
    made = load_recipe(write_recipe(), ["also.deep.depth=50", "also.deep.paper.RR=0.4"])
    assert make_recipe("tiny", tomllib.loads(to_toml(made.to_dict())), "toml") == made


def test_a_part_of_a_split_that_is_measured_on_too(write_recipe):
    with pytest.raises(ConfigError, match=r"fraction = 0\.5 of 'dev' would be measured on too"):
        load_recipe(write_recipe(), ["data.fraction=0.5", "data.train=dev"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            ["train.encoder_learning_rate=0.01", "vectors.trainable=false"],
            r"tiny\.toml: train\.encoder_learning_rate = 0\.01 needs vectors\.trainable = true",
        ),
    ],
)
def test_rates_of_an_encoder_that_does_not_learn(write_recipe, changes, message):
    with pytest.raises(ConfigError, match=message):
        load_recipe(write_recipe(), changes)


def test_to_dict_and_back(write_recipe):
    settings = ["data.name=pubmed", "data.options.pool=full", "train.clip_norm=2"]
    base = load_recipe(write_recipe(), settings)
    again = make_recipe("tiny", base.to_dict(), "json")
    assert again == base


def test_there_are_recipes():
    assert len(COMMITTED) >= 1


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_committed_recipes_are_right(path, monkeypatch):
    """The vector files need not be here for that."""
    for find in ("find_file", "find_transformer"):
        monkeypatch.setattr(inputs, find, lambda name, *_: name)
    made = load_recipe(path)
    assert made.dataset_folder == path.parent.name  # where its result will be looked for
    assert make_recipe(made.name, made.to_dict(), "json") == made
    with pytest.raises(UnknownNameError):
        load_recipe(path, ["model.name=no-such-model"])

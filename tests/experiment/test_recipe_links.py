"""The section [links]: checked before any work, built into the model, part of its identity."""

from pathlib import Path

import pytest

from matchwork.errors import ConfigError, DataError, MatchworkError
from matchwork.experiment import load_recipe, run_recipe
from matchwork.experiment.prepare import prepare
from matchwork.experiment.recipe import make_recipe
from matchwork.matcher import Matcher

RECIPE = """
[data]
name = "toy"
[vectors]
dim = 8
[links]
source = "file"
file = "{file}"
[model]
name = "iasm-dynamic"
num_layers = 1
[train]
max_epochs = 1
accelerator = "cpu"
"""


@pytest.fixture
def linked(write_recipe, tmp_path: Path) -> Path:
    """A recipe with a table of two links, one with a word that no text has."""
    (tmp_path / "pairs.tsv").write_text("wrote\tauthor\t1\ncity\tmetropolisish\t0.5\n")
    return write_recipe(RECIPE.format(file=tmp_path / "pairs.tsv"))


def without_links(path: Path) -> Path:
    text = path.read_text()
    start, end = text.index("[links]"), text.index("[model]")
    path.write_text(text[:start] + text[end:])
    return path


def test_links_are_used_at_their_best_unless_told_otherwise(linked):
    made = load_recipe(linked)
    assert made.model.links == "max" and made.links.source == "file"
    assert load_recipe(linked, ["model.links=replace"]).model.links == "replace"


def test_links_are_part_of_the_recipe_only_when_given(linked):
    made = load_recipe(linked)
    assert make_recipe(made.name, made.to_dict(), "json") == made
    assert load_recipe(linked, ["links.source=wordnet", "links.file=''"]).hash != made.hash
    plain = load_recipe(without_links(linked))
    assert "links" not in plain.to_dict() and plain.links is None
    assert plain.model.links == "none" and plain.hash != made.hash


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["model.links=none"],
            r'tiny\.toml: section \[links\] is given, but model\.links = "none"',
        ),
        (["model.links=maxx"], r"section \[model\]: links = 'maxx'.*'replace'"),
        (["links.source=wordnett"], r"section \[links\]: source = 'wordnett'.*'wordnet'"),
        (["links.source=wordnet"], 'source = "file" and file belong together'),
        (["links.file=''"], 'source = "file" and file belong together'),
        (["links.files=x"], r"section \[links\]: unknown key 'files'; did you mean 'file'"),
        (
            ["text.stem=english"],
            r"section \[links\]: word links need whole words, but the tokenizer stems",
        ),
    ],
)
def test_a_wrong_setting_is_named(linked, overrides, message):
    with pytest.raises(ConfigError, match=message):
        load_recipe(linked, overrides)


def test_a_model_that_cannot_use_links(linked, write_recipe):
    other = write_recipe(
        linked.read_text().replace("iasm-dynamic", "bag").replace("num_layers", "scale")
    )
    with pytest.raises(
        ConfigError, match=r"bag cannot use word links.*models that can: .*iasm-dynamic"
    ):
        load_recipe(other)


def test_links_without_their_source(linked):
    with pytest.raises(ConfigError, match=r"model\.links = 'max' needs the links: add a section"):
        load_recipe(without_links(linked), ["model.links=max"])
    assert load_recipe(linked, ["model.links=none"]).links is None


def test_pieces_of_words_cannot_be_linked(linked, tmp_path, monkeypatch):
    monkeypatch.setattr("matchwork.experiment.recipe.inputs.find_transformer", lambda *_: tmp_path)
    changes = ["vectors.source=transformer", "vectors.file=some-model", "vectors.dim=100"]
    with pytest.raises(ConfigError, match="links join words, but a transformer has subword tokens"):
        load_recipe(linked, changes)


def test_a_file_that_is_not_there(linked):
    message = r"no file of word links 'gone\.tsv'; set MATCHWORK_VECTORS.*--set links\.file=PATH"
    with pytest.raises(DataError, match=message):
        load_recipe(linked, ["links.file=gone.tsv"])


def test_a_linked_matcher_is_trained_and_kept(linked, tmp_path):
    recipe = load_recipe(linked)
    links = prepare(recipe).matcher(seed=1).model.links
    assert len(links) == 4 and sorted(links.weights.tolist()) == [0.5, 0.5, 1.0, 1.0]
    run_recipe(recipe, tmp_path / "out")
    kept = Matcher.load(tmp_path / "out" / "seed-1" / "matcher")
    for name, buffer in links.named_buffers():
        assert (getattr(kept.model.links, name) == buffer).all()


def test_wordnet_over_the_vocabulary(linked):
    recipe = load_recipe(linked, ["links.source=wordnet", "links.file=''"])
    try:
        prepared = prepare(recipe)
    except (MatchworkError, RuntimeWarning) as error:
        pytest.skip(str(error))
    assert len(prepared.links) > 0
    assert set(prepared.links.words) <= set(prepared.tokenizer.vocabulary.words)


def test_missing_wordnet_is_noticed_before_any_work(linked, monkeypatch):
    data = pytest.importorskip("nltk.data")
    monkeypatch.setattr(data, "path", [])
    monkeypatch.setattr("matchwork.models.iasm.linked_words.find_spec", lambda name: None)
    monkeypatch.setattr("matchwork.experiment.prepare.load", None)  # reading data would fail
    recipe = load_recipe(linked, ["links.source=wordnet", "links.file=''"])
    with pytest.raises(DataError, match="WordNet is not installed"):
        prepare(recipe)

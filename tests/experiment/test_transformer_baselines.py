"""Cross-encoder, bi-encoder and ColBERT through the same runner as every model."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from matchwork.data import toy
from matchwork.errors import ConfigError
from matchwork.experiment import load_recipe, run_recipe
from matchwork.matcher import Matcher

RECIPE = """
[data]
name = "toy"
measures = ["RR"]
[model]
name = "cross-encoder"
[vectors]
source = "transformer"
file = "bert"
trainable = true
[text]
max_document_length = 12
[train]
max_epochs = 1
learning_rate = 0.005
accelerator = "cpu"
"""


@pytest.fixture
def load(write_recipe, bert_folder, monkeypatch):
    """`load(*overrides)`: the recipe above, its transformer under MATCHWORK_VECTORS."""
    monkeypatch.setenv("MATCHWORK_VECTORS", str(bert_folder.parent))
    return lambda *overrides: load_recipe(write_recipe(RECIPE), list(overrides))


@pytest.mark.parametrize("name", ["cross-encoder", "bi-encoder", "colbert"])
def test_from_recipe_to_matcher(load, tmp_path, bert_folder, name):
    result = run_recipe(load(f"model.name={name}"), tmp_path / "out")
    assert result["model"] == name and "RR" in result["measures"]
    seed = tmp_path / "out" / "seed-1"
    layer = "encoder.layer.1.output.dense.weight"
    before = load_file(bert_folder / "model.safetensors")[layer]
    after = load_file(seed / "matcher" / "model.safetensors")[f"encoder.transformer.{layer}"]
    assert np.isfinite(after).all() and not np.array_equal(before, after)
    matcher = Matcher.load(seed / "matcher")
    pairs = [(pair.query, pair.document) for pair in toy()["test"].pairs()]
    assert np.isfinite(matcher.score(pairs)).all() and matcher.calibration is not None


def test_a_cross_encoder_has_no_in_batch_negatives(load):
    with pytest.raises(ConfigError, match=r'train\.negatives = "in-batch" needs texts that are'):
        load("train.loss=softmax", "train.negatives=in-batch")


@pytest.mark.parametrize("name", ["cross-encoder", "bi-encoder"])
def test_cls_is_no_token_of_those_that_read_it_apart(load, name):
    with pytest.raises(ConfigError, match=f"which {name} does not do; leave special_tokens out"):
        load(f"model.name={name}", "vectors.special_tokens=token")
    assert (
        load("model.name=colbert", "vectors.special_tokens=token").vectors.special_tokens == "token"
    )


def test_a_cross_encoder_on_word_vectors(load, tmp_path):
    recipe = load("vectors.source=random", "vectors.file=''")
    with pytest.raises(ConfigError, match=r'use vectors\.source = "transformer"'):
        run_recipe(recipe, tmp_path / "out")

"""Fewer bits: the ranking stays, and what cannot be done says so."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from tiny_sentence_transformers import PAIRS, cross_encoder_folder
from torch import nn

import matchwork as mw
from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.errors import ConfigError
from matchwork.matcher import precision as precision_module
from matchwork.matcher.precision import Int8Linear
from matchwork.models import MODELS


@pytest.fixture(autouse=True)
def _tiny_layers_are_worth_it(monkeypatch):
    monkeypatch.setattr(precision_module, "_MIN_WEIGHTS", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return cross_encoder_folder(tmp_path_factory.mktemp("cross"))


@pytest.fixture
def word_matcher():
    tokenizer = mw.WordTokenizer.fit(toy()["train"].texts)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
    return mw.Matcher(tokenizer, MODELS["bag"].model(MODELS["bag"].config({}), encoder))


@pytest.mark.parametrize("huge", [0.0, 300.0])
@pytest.mark.parametrize("bias", [True, False])
def test_int8_layer_is_close_even_beside_huge_columns(huge, bias):
    torch.manual_seed(0)
    linear = nn.Linear(64, 64, bias=bias)
    inputs = torch.randn(3, 20, 64)
    inputs[..., 5] += huge
    with torch.inference_mode():
        sample = inputs[:2].flatten(0, 1)
        exact, rounded = linear(inputs), Int8Linear(linear, sample).eval()(inputs)
    assert rounded.shape == exact.shape
    others = torch.cat([inputs[..., :5], inputs[..., 6:]], dim=-1)
    assert 0 < (rounded - exact).abs().max() < 0.03 * others.abs().max()


def test_int8_layer_is_close_even_beside_huge_rows():
    torch.manual_seed(0)
    linear = nn.Linear(64, 32)
    inputs = torch.randn(20, 64)
    inputs[3] *= 300
    with torch.inference_mode():
        layer = Int8Linear(linear, inputs).eval()
        wrong = (layer(inputs) - linear(inputs)).abs().amax(dim=1)
    assert wrong[:3].max() < 0.03 * inputs[:3].abs().max()
    assert 0.1 < wrong[3] < 0.03 * inputs[3].abs().max()


def test_int8_weights_never_overflow():
    linear = nn.Linear(256, 4)
    nn.init.constant_(linear.weight, 1.0)
    with torch.inference_mode():
        sample = torch.linspace(-1, 1, 256).repeat(4, 1)
        found = Int8Linear(linear, sample).eval()(torch.ones(2, 256))
    assert torch.allclose(found, linear(torch.ones(2, 256)), rtol=0.01)


@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_the_ranking_is_nearly_the_same(folder, precision):
    pairs = [(query, document) for query, _ in PAIRS for _, document in PAIRS]
    exact = mw.Matcher.load(folder).score(pairs)
    matcher = mw.Matcher.load(folder, precision=precision)
    found = matcher.score(pairs)
    assert not np.array_equal(found, exact)
    assert len(np.unique(found)) == len(np.unique(exact))  # no ties that were none
    assert spearmanr(found, exact).statistic > 0.9
    assert np.abs(found - exact).mean() < 0.25 * exact.std()


def test_only_the_encoder_is_rounded_and_the_whole_matcher_is_saved(folder, tmp_path):
    exact = mw.Matcher.load(folder).score(PAIRS)
    matcher = mw.Matcher.load(folder).to(precision="int8")
    rounded = [m for m in matcher.model.modules() if isinstance(m, Int8Linear)]
    assert rounded and isinstance(matcher.model.output, nn.Linear)
    scores = matcher.score(PAIRS)
    matcher.save(tmp_path / "saved")
    assert np.array_equal(mw.Matcher.load(tmp_path / "saved").score(PAIRS), exact)
    again = mw.Matcher.load(tmp_path / "saved", precision="int8")
    np.testing.assert_allclose(again.score(PAIRS), scores, atol=1e-5)


def test_a_rounded_matcher_does_not_learn_nor_go_back(folder):
    matcher = mw.Matcher.load(folder, precision="int8").to(precision="int8")
    matcher.model.train()
    layer = next(m for m in matcher.model.modules() if isinstance(m, Int8Linear)).train()
    with pytest.raises(ConfigError, match="a matcher in int8 cannot learn"):
        layer(torch.ones(1, layer.weight.shape[1]))
    with pytest.raises(ConfigError, match="stays so; open it again for '32'"):
        matcher.to(precision="32")
    with pytest.raises(ConfigError, match="int8 runs on the CPU, not on cuda"):
        matcher.to("cuda")


def test_what_cannot_be_rounded_says_so(word_matcher):
    with pytest.raises(ConfigError, match="int8 is for transformers, and this matcher reads"):
        word_matcher.to(precision="int8")
    with pytest.raises(ConfigError, match="no precision 'fp4'; there are 32, bf16, int8"):
        word_matcher.to(precision="fp4")
    assert word_matcher.to(precision="bf16").score([("bees", "bees make honey")]).shape == (1,)

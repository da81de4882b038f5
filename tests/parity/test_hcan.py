"""HCAN, both presets and all encoders, against the slow NumPy version of its equations."""

from typing import Any

import numpy as np
import pytest
import torch
from hcan_setup import CLOSE, EXACT, VARIANTS, model, phrase_weights, references, texts, weights_of
from iasm_setup import central_difference
from ragged import sides

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import HCAN, MODELS, HCANConfig


@pytest.mark.parametrize("config", VARIANTS)
def test_scores_and_logits_of_a_ragged_batch(config: dict[str, Any]) -> None:
    made, pairs = model(**config), texts()
    query, document = sides(pairs)
    wgt = phrase_weights(query, made.config.num_layers)
    output = made.match(query, document, wgt)
    expected = references(made, pairs, wgt)
    assert output.logits is not None
    np.testing.assert_allclose(output.logits.detach(), [t.logits for t in expected], **EXACT)
    np.testing.assert_allclose(output.scores.detach(), [t.score for t in expected], **EXACT)
    assert len({t.score for t in expected}) == len(pairs)


@pytest.mark.parametrize("config", VARIANTS)
def test_features_and_evidence(config: dict[str, Any]) -> None:
    made, pairs = model(**config), texts()
    query, document = sides(pairs)
    wgt = phrase_weights(query, made.config.num_layers)
    trace = made.trace(query, document, wgt)
    evidence = made.match(query, document, wgt).evidence
    first, parts = made.preset.first_level, made.config.parts
    for row, expected in enumerate(references(made, pairs, wgt)):
        m, n = len(pairs[row][0]), len(pairs[row][1])
        if parts != "semantic":
            wanted = np.array(expected.largest)
            if made.config.preset == "paper":
                wanted = np.concatenate([wanted, expected.mean], axis=1)
            found = trace.relevance_features[row].detach()
            np.testing.assert_allclose(found, wanted, **EXACT)
            for level, S in enumerate(expected.S, start=first):
                shown = evidence[f"relevance_{level}"].values[row, :m, :n].detach().numpy()
                np.testing.assert_allclose(shown, S, **EXACT)
                weight = evidence[f"phrase_weight_{level}"].values[row, :m].numpy()
                largest = wanted[level - first, :m]
                np.testing.assert_allclose(weight * S.max(axis=1), largest, **EXACT)
        if parts != "relevance":
            found = trace.semantic_features[row].detach()
            np.testing.assert_allclose(found, np.array(expected.semantic), **EXACT)
            for level, A in enumerate(expected.A, start=1):
                shown = evidence[f"attention_{level}"].values[row, :m, :n].detach()
                np.testing.assert_allclose(shown, A, **EXACT)


@pytest.mark.parametrize("config", VARIANTS)
def test_gradients_are_the_central_differences(config: dict[str, Any]) -> None:
    """A few entries of every parameter, and every entry of every text."""
    made, pairs = model(seed=3, **config), texts(seed=1, lengths=[(2, 3), (3, 1)])
    batch = sides(pairs)
    wgt = phrase_weights(batch[0], made.config.num_layers)
    leaves = [text.vectors.clone().requires_grad_() for text in batch]
    query, document = (Encoded(leaf, t.mask) for leaf, t in zip(leaves, batch, strict=True))
    made.match(query, document, wgt).scores.sum().backward()
    weights = weights_of(made)
    random = np.random.default_rng(len(weights))

    def total() -> float:
        return sum(trace.score for trace in references(made, pairs, wgt, weights))

    for name, parameter in made.named_parameters():
        places = [tuple(random.integers(parameter.shape)) for _ in range(4)]
        expected = central_difference(total, weights[name], places=places)
        assert parameter.grad is not None
        found = np.array([parameter.grad[place] for place in places])
        np.testing.assert_allclose(found, expected, **CLOSE, err_msg=name)
    for position, leaf in enumerate(leaves):
        assert leaf.grad is not None
        for row, pair in enumerate(pairs):
            expected = central_difference(total, pair[position])
            np.testing.assert_allclose(leaf.grad[row, : len(expected)], expected, **CLOSE)
            assert (leaf.grad[row, len(expected) :] == 0).all()


@pytest.mark.parametrize(
    ("preset", "parts", "features"),
    [
        ("paper", "both", 4 * (2 * 20 + 150)),
        ("paper", "relevance", 4 * 2 * 20),
        ("paper", "semantic", 4 * 150),
        ("code", "both", 5 * 20 + 2 * 4 * 256),
        ("code", "relevance", 5 * 20),
        ("code", "semantic", 2 * 4 * 256),
    ],
)
def test_sizes_of_the_classifier(preset: Any, parts: Any, features: int) -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=300))
    config = HCANConfig(preset=preset, parts=parts, filters=256, query_length=20)
    linear = [part for part in HCAN(config, encoder).head if isinstance(part, torch.nn.Linear)]
    sizes = [linear[0].in_features, *(layer.out_features for layer in linear)]
    assert sizes == [features, 150, *([50] if preset == "code" else []), 2]


def test_parts_without_the_other_have_none_of_its_parameters() -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=3))

    def owners(name: str) -> set[str]:
        entry = MODELS[name]
        made = entry.model(entry.config({"phrase_weights": True}), encoder)
        return {key.partition(".")[0] for key in made.state_dict()} - {"encoder"}

    assert owners("hcan") == {"levels", "semantic", "head", "phrases", "means"}
    assert owners("hcan-rm") == {"levels", "head", "phrases"}
    assert owners("hcan-sm") == {"levels", "semantic", "head"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"filters": 5}, "filters must be even, got 5"),
        ({"hidden": 7}, "hidden must be even, got 7"),
        ({"num_classes": 1}, "num_classes must be at least 2, got 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
    ],
)
def test_settings_that_make_no_model(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        HCANConfig(**settings)


def test_a_query_that_is_too_long_is_an_error_and_its_padding_is_not() -> None:
    made = model(query_length=3)
    assert made.config.max_query_length == 3
    fine, (query, document) = texts(lengths=[(3, 2)]), sides(texts(lengths=[(4, 2)]))
    scores = made.match(*sides(fine, extra=(4, 0))).scores
    torch.testing.assert_close(scores, made.match(*sides(fine, extra=(0, 0))).scores)
    with pytest.raises(ConfigError, match=r"a query has 4 tokens, but .* query_length = 3"):
        made.match(query, document)

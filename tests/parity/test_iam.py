"""IAM, all options, against the slow NumPy version of its equations."""

from typing import Any

import numpy as np
import pytest
import torch
from iam_reference import iam
from iam_setup import CLOSE, DIM, EXACT, VARIANTS, model, references, sides, texts, weights_of
from iasm_setup import central_difference

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import IAM, MODELS, IAMConfig


@pytest.mark.parametrize("config", VARIANTS)
def test_every_value_of_a_ragged_batch(config: dict[str, Any]) -> None:
    made, pairs = model(**config), texts()
    query, document = sides(pairs)
    trace, output = made.trace(query, document), made.match(query, document)
    expected = references(made, pairs)
    for row, wanted in enumerate(expected):
        m, n = len(wanted.query_states), len(wanted.document_states)
        for found, value in (
            (trace.query_states.vectors[row, :m], wanted.query_states),
            (trace.document_states.vectors[row, :n], wanted.document_states),
            (trace.attended.energies[row, :n], wanted.energies),
            (trace.attended.weights[row, :n], wanted.weights),
            (trace.attended.context[row], wanted.context),
            (trace.question[row], wanted.question),
            (trace.logits[row], wanted.logits),
            (output.scores[row], wanted.score),
        ):
            np.testing.assert_allclose(found.detach(), value, **EXACT)
        if trace.jumps is not None:
            np.testing.assert_allclose(trace.jumps[row, :n].detach(), wanted.jumps, **EXACT)
            assert wanted.jumps[-1] == 0 and (trace.jumps[row, n:] == 0).all()
        shown = output.evidence["document_attention"].values[row, : n - 1].detach()
        np.testing.assert_allclose(shown, wanted.weights[:-1], **EXACT)
    assert len({wanted.score for wanted in expected}) == len(pairs)
    assert ("document_jump" in output.evidence) == made.config.jump


@pytest.mark.parametrize("config", VARIANTS)
def test_gradients_are_the_central_differences(config: dict[str, Any]) -> None:
    """A few entries of every trained parameter, and every entry of every text."""
    made, pairs = model(seed=3, **config), texts(seed=1, lengths=[(2, 3), (3, 1)])
    batch = sides(pairs)
    leaves = [text.vectors.clone().requires_grad_() for text in batch]
    query, document = (Encoded(x, t.mask, t.ids) for x, t in zip(leaves, batch, strict=True))
    made.match(query, document).scores.sum().backward()
    weights = weights_of(made)
    random = np.random.default_rng(len(weights))

    def total() -> float:
        return sum(trace.score for trace in references(made, pairs, weights))

    for name, parameter in made.named_parameters():
        if not parameter.requires_grad:
            assert parameter.grad is None
            continue
        places = [tuple(random.integers(parameter.shape)) for _ in range(4)]
        expected = central_difference(total, weights[name], places=places)
        assert parameter.grad is not None, name
        found = np.array([parameter.grad[place] for place in places])
        np.testing.assert_allclose(found, expected, **CLOSE, err_msg=name)
    for position, leaf in enumerate(leaves):
        assert leaf.grad is not None
        for row, pair in enumerate(pairs):
            expected = central_difference(total, pair[position])
            np.testing.assert_allclose(leaf.grad[row, : len(expected)], expected, **CLOSE)
            assert (leaf.grad[row, len(expected) :] == 0).all()


def test_vectors_that_name_no_words_are_matched_without_terms() -> None:
    made, pairs = model(), texts()
    query, document = (Encoded(text.vectors, text.mask) for text in sides(pairs))
    scores = made.match(query, document).scores.detach()
    weights = weights_of(made)
    expected = [iam(q, d, weights, made.config).score for q, d, _, _ in pairs]
    np.testing.assert_allclose(scores, expected, **EXACT)


def test_empty_texts_consist_of_their_end() -> None:
    made, pairs = model(), texts(lengths=[(0, 2), (2, 0), (0, 0)])
    scores = made.match(*sides(pairs)).scores.detach()
    expected = [trace.score for trace in references(made, pairs)]
    np.testing.assert_allclose(scores, expected, **EXACT)


def test_the_loss_adds_the_squared_norm_of_weights() -> None:
    made = model(l2=0.25)
    output = made.match(*sides(texts()))
    expected = sum(
        float((p.detach() ** 2).sum())
        for name, p in made.named_parameters()
        if p.requires_grad and "bias" not in name
    )
    assert made.config.aux == "both" and output.penalty is not None
    torch.testing.assert_close(output.penalty.detach(), torch.full((4,), expected / 4).double())
    assert "classes.weight" in dict(made.named_parameters())
    with torch.no_grad():  # scoring has no use for it
        assert made.match(*sides(texts())).penalty is None
    assert model(l2=0.0).config.aux is None
    assert model(l2=0.0).match(*sides(texts())).penalty is None


def test_question_words_move_where_nothing_else_moves_them() -> None:
    def parts(trainable: bool, **config: Any) -> set[str]:
        settings = WordEmbeddingConfig(vocab_size=5, dim=DIM, trainable=trainable)
        return dict(IAM(IAMConfig(**config), WordEmbedding(settings)).named_parameters()).keys()

    assert "shift" in parts(trainable=False)
    assert "shift" not in parts(trainable=False, tune_words=False)
    assert "shift" not in parts(trainable=True)


def test_names() -> None:
    assert MODELS["iam"].config({}).jump and not MODELS["iam-no-jump"].config({}).jump
    made = model(jump=False)
    assert not any("energy" in name or "jump" in name for name in made.state_dict())
    assert [stage.name for stage in made.stages()] == list(made.config.stage_configs)
    names = ["language-model-query", "language-model-document"]
    assert list(made.config.stage_configs) == names
    assert [stage.name for stage in model().stages()] == [*names, "energy"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": 0}, "units must be at least 1, got 0"),
        ({"input_dim": 0}, "input_dim must be at least 1, got 0"),
        ({"hidden": -1}, "hidden must be at least 1, got -1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"l2": -1e-5}, "l2 must not be negative, got -1e-05"),
    ],
)
def test_settings_that_make_no_model(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        IAMConfig(**settings)

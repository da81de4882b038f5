"""Match-SRNN, every setting, against the slow NumPy version of its equations."""

from typing import Any

import numpy as np
import pytest
import torch
from iasm_setup import central_difference
from match_srnn_reference import Text
from match_srnn_setup import (
    CLOSE,
    EXACT,
    LENGTHS,
    VARIANTS,
    model,
    reference,
    score,
    sides,
    texts,
    weights_of,
)

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.interact import Interaction
from matchwork.models import MODELS, MatchSRNN, MatchSRNNConfig

GATES = ("gate_input", "gate_left", "gate_top", "gate_diagonal")
DIM_OF_VECTORS = 50


@pytest.mark.parametrize("config", VARIANTS)
def test_scores_of_a_ragged_batch(config: dict[str, Any]) -> None:
    made = model(**config)
    pairs = texts()
    scores = made.match(*sides(pairs)).scores.detach().numpy()
    expected = [reference(made, query, document).score for query, document in pairs]
    np.testing.assert_allclose(scores, expected, **EXACT)
    assert len(set(expected)) == len(pairs) or made.config.interaction == "indicator"


@pytest.mark.parametrize("config", VARIANTS)
def test_evidence_in_the_coordinates_of_the_texts(config: dict[str, Any]) -> None:
    """The reference reads the reversed texts in the other direction: its tables are turned."""
    made = model(**config)
    pairs = texts()
    evidence = made.match(*sides(pairs)).evidence
    suffixes = ["", "_reverse"][: len(made.weights.input)]
    assert list(evidence) == [
        "interaction",
        *(f"{name}{suffix}" for suffix in suffixes for name in ("state", *GATES)),
        *("query_contribution", "document_contribution"),
    ]
    for row, (query, document) in enumerate(pairs):
        expected = reference(made, query, document)
        tables = {"interaction": expected.s.mean(-1)}
        for scan, suffix in enumerate(suffixes):
            turn = -1 if suffix else 1
            listens = np.ones(1)
            if made.config.head == "linear":
                listens = made.score.weight.detach().numpy()[0].reshape(len(suffixes), -1)[scan]
            found = expected.scans[scan]
            tables[f"state{suffix}"] = found.H[::turn, ::turn] @ listens
            for name, gate in zip(GATES, found.z, strict=True):
                tables[f"{name}{suffix}"] = gate.mean(-1)[::turn, ::turn]
        m, n = len(query.ids), len(document.ids)
        for name, table in tables.items():
            shown = evidence[name]
            assert isinstance(shown, Interaction) and not shown.values.requires_grad
            np.testing.assert_allclose(shown.values[row, :m, :n], table, **EXACT, err_msg=name)
            assert not shown.values[row, m:].any() and not shown.values[row, :, n:].any()


@pytest.mark.parametrize("config", VARIANTS)
def test_gradients_are_the_central_differences(config: dict[str, Any]) -> None:
    """A few entries of every parameter, and every entry of every text."""
    made = model(seed=3, **config)
    pairs = texts(seed=1, lengths=[(2, 3), (2, 1)])
    batch = sides(pairs)
    leaves = [encoded.vectors.clone().requires_grad_() for encoded in batch]
    query, document = (
        Encoded(leaf, encoded.mask, encoded.ids)
        for leaf, encoded in zip(leaves, batch, strict=True)
    )
    made.match(query, document).scores.sum().backward()
    weights = weights_of(made)
    random = np.random.default_rng(len(weights))

    def total() -> float:
        return sum(reference(made, q, d, weights).score for q, d in pairs)

    for name, parameter in made.named_parameters():
        places = [tuple(random.integers(parameter.shape)) for _ in range(5)]
        expected = central_difference(total, weights[name], places=places)
        assert parameter.grad is not None
        found = np.array([parameter.grad[place] for place in places])
        np.testing.assert_allclose(found, expected, **CLOSE, err_msg=name)
    for position, leaf in enumerate(leaves):
        if made.config.interaction == "indicator":
            assert leaf.grad is None
            continue
        assert leaf.grad is not None
        for row, pair in enumerate(pairs):
            expected = central_difference(total, pair[position].vectors)
            np.testing.assert_allclose(leaf.grad[row, : len(expected)], expected, **CLOSE)
            assert (leaf.grad[row, len(expected) :] == 0).all()


def test_every_gradient_of_the_plain_model() -> None:
    made = model(seed=5, direction="both")
    pairs = texts(seed=2, lengths=[(2, 2)])
    made.match(*sides(pairs)).scores.sum().backward()
    weights = weights_of(made)
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None
        expected = central_difference(
            lambda: reference(made, *pairs[0], weights).score, weights[name]
        )
        np.testing.assert_allclose(parameter.grad, expected, **CLOSE, err_msg=name)


def test_hand_example() -> None:
    """All gates a quarter and every input 1: property 10 of the specification."""
    made = model(dim=1, interaction="dot", units=1, head="state")
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.fill_(1.0 if name == "gru.input" else 0.0)

    def corner(m: int, n: int) -> float:
        return score(made, Text(np.ones((m, 1)), [0] * m), Text(np.ones((n, 1)), [0] * n))

    assert corner(1, 1) == pytest.approx(0.1903985, abs=1e-7)
    assert corner(1, 2) == corner(2, 1) == pytest.approx(0.2379982, abs=1e-7)
    assert corner(2, 2) == pytest.approx(0.3569973, abs=1e-7)


def test_names_are_one_and_both_directions() -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM_OF_VECTORS))
    for name, directions in (("match-srnn", 1), ("bi-match-srnn", 2)):
        made = MODELS[name].model(MODELS[name].config({}), encoder)
        assert isinstance(made, MatchSRNN)
        assert made.weights.directions == directions
        assert (made.weights.units, made.weights.channels) == (10, 10)
        assert made.score.weight.shape == (1, 10 * directions)


@pytest.mark.parametrize("name", ["match-srnn", "bi-match-srnn"])
def test_initial_weights_are_uniform_within_their_bounds_and_biases_zero(name: str) -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM_OF_VECTORS))
    settings = {"init": 0.2, "tensor_init": 0.05, "output_init": 0.5}
    torch.manual_seed(0)
    made = MODELS[name].model(MODELS[name].config(settings), encoder)
    bounds = {"tensor.tensor": 0.05, "score.weight": 0.5}
    for label, parameter in made.named_parameters():
        if label.endswith("bias"):
            assert not parameter.any(), label
        else:
            bound = bounds.get(label, 0.2)
            assert 0.75 * bound < parameter.detach().abs().max() <= bound, label


def test_without_output_weights_only_the_output_moves_at_first() -> None:
    """The authors' starting point: why ours is another."""
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=3))
    torch.manual_seed(0)
    made = MatchSRNN(MatchSRNNConfig(output_init=0.0), encoder).double()
    made.match(*sides(texts())).scores.sum().backward()
    for label, parameter in made.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.any().item() == label.startswith("score"), label


@pytest.mark.parametrize("length", [(0, 3), (2, 0), (0, 0)])
@pytest.mark.parametrize("direction", ["forward", "both"])
def test_a_text_without_words_scores_the_bias(length: tuple[int, int], direction: str) -> None:
    made = model(direction=direction)
    pairs = texts(lengths=[length, LENGTHS[0]])
    scores = made.match(*sides(pairs)).scores
    torch.testing.assert_close(scores[0], made.score.bias[0], **EXACT)
    assert scores[1].item() == pytest.approx(score(made, *pairs[1]), abs=1e-10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"channels": 0}, "channels must be at least 1, got 0"),
        ({"units": -2}, "units must be at least 1, got -2"),
        ({"init": -0.1}, r"init must not be negative, got -0\.1"),
        ({"output_init": float("nan")}, "output_init must not be negative, got nan"),
        ({"engine": "diagnal"}, r"no spatial GRU engine named 'diagnal'; did you mean 'diagonal'"),
        ({"head": "state"}, r"needs units = 1 and direction = \"forward\", got 10"),
        ({"head": "state", "units": 1, "direction": "both"}, "got 1 and 'both'"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MatchSRNNConfig(**settings)


def test_the_indicator_needs_word_ids() -> None:
    query, document = sides(texts())
    made = model(interaction="indicator")
    with pytest.raises(ConfigError, match=r"needs an encoder with one vector per word"):
        made.match(Encoded(query.vectors, query.mask), document)

"""IASM, every registered name and setting, against the slow NumPy version of its equations."""

from typing import Any

import numpy as np
import pytest
import torch
from iasm_setup import (
    CLOSE,
    EXACT,
    NAMES,
    OTHER_WEIGHTS,
    VARIANTS,
    Texts,
    central_difference,
    channels,
    cnn_weights_of,
    documents,
    identity,
    matrices,
    model,
    named,
    pair,
    queries,
    reference,
    score,
    side,
    texts,
    weights_of,
    with_leaves,
)

from matchwork.encode import WordEmbedding, WordEmbeddingConfig
from matchwork.models import IASM, IASMConfig

assert len(NAMES) >= 5  # a suite over no name would pass
NAMED = [
    pytest.param(name, config, id=f"{name}-{'-'.join(map(str, config.values()))}")
    for name in NAMES
    for depth in (1, 3, 5)
    for norm in ("matrix", "row")
    for config in (
        {"num_layers": depth, "norm": norm},
        {"num_layers": depth, "norm": norm, "update": "static"},
    )
    # What a name says stays as it is; the matrix of IASM-CNN is the dynamic one.
    if "update" not in config or name in ("iasm-source", "iasm-target")
]


def check_values(made: IASM) -> None:
    """Scores, matrices and representations of a ragged batch; nothing in its padding."""
    examples = texts()
    query, document = side([q for q, _ in examples]), side([d for _, d in examples], extra=2)
    scores = made.match(query, document).scores.detach().numpy()
    layers = made.interact(query, document)
    for row, (q, d) in enumerate(examples):
        expected = reference(made, q, d)
        np.testing.assert_allclose(-scores[row], expected.s, **EXACT)
        for t, matrix in enumerate(matrices(layers)):
            height, width = expected.A[t].shape
            found = matrix[row].detach().numpy()
            np.testing.assert_allclose(found[:height, :width], expected.A[t], **EXACT)
            assert not found[height:].any() and not found[:, width:].any()
        for ours, theirs in ((queries(layers), expected.Q), (documents(layers), expected.D)):
            assert len(ours) == len(theirs) == made.config.num_layers + 1
            for found_rows, rows in zip(ours, theirs, strict=True):
                whole = found_rows[row].detach().numpy()
                np.testing.assert_allclose(whole[: len(rows)], rows, **EXACT)
                assert not whole[len(rows) :].any()


@pytest.mark.parametrize("config", VARIANTS)
def test_values_of_a_ragged_batch(config: dict[str, Any]) -> None:
    check_values(model(**config))


@pytest.mark.parametrize(("name", "config"), NAMED)
def test_values_of_every_registered_name(name: str, config: dict[str, Any]) -> None:
    check_values(named(name, **config))


GRADIENT_VARIANTS = [
    {"num_layers": 1, "update": "static"},
    {"num_layers": 3, "update": "static", "norm": "row"},
    {"num_layers": 3, "update": "dynamic", **OTHER_WEIGHTS},
    {"num_layers": 5, "update": "dynamic"},
    {"num_layers": 3, "update": "dynamic", "norm": "row"},
]


@pytest.mark.parametrize("config", GRADIENT_VARIANTS, ids=str)
def test_gradients_are_the_central_differences(config: dict[str, Any]) -> None:
    made = model(seed=3, dim=3, **config)
    examples = texts(seed=1, dim=3, lengths=[(2, 3), (1, 2)])
    batch, leaves = with_leaves(examples)
    made.match(*batch).scores.sum().backward()
    weights = weights_of(made)

    def total() -> float:
        return -sum(reference(made, q, d, weights).s for q, d in examples)

    for name in ("Wq", "Wd", "bq", "bd"):
        expected = central_difference(total, getattr(weights, name))
        found = getattr(made, name).grad.numpy()
        np.testing.assert_allclose(found, expected, **CLOSE, err_msg=name)
        assert (np.abs(expected).reshape(len(expected), -1).max(axis=1) > 1e-6).all(), name
    for position, leaf in enumerate(leaves):
        assert leaf.grad is not None
        for row, example in enumerate(examples):
            expected = central_difference(total, example[position])
            length = len(example[position])
            np.testing.assert_allclose(leaf.grad[row, :length].numpy(), expected, **CLOSE)
            assert (leaf.grad[row, length:] == 0).all()


@pytest.mark.parametrize(("name", "config"), NAMED)
def test_gradients_of_every_registered_name(name: str, config: dict[str, Any]) -> None:
    """A few entries of every parameter and of every text, chosen anew for every model."""
    made = named(name, seed=24, dim=4, **config)
    examples: Texts = texts(seed=1, dim=4, lengths=[(2, 3), (1, 2)])
    batch, leaves = with_leaves(examples)
    made.match(*batch).scores.sum().backward()
    weights = weights_of(made)
    cnn = cnn_weights_of(made.cnn) if made.config.head == "cnn" else None

    def total() -> float:
        return -sum(reference(made, q, d, weights, cnn=cnn).s for q, d in examples)

    random = np.random.default_rng(0)
    found: list[float] = []
    for label in ("Wq", "Wd", "bq", "bd"):
        array, gradient = getattr(weights, label), getattr(made, label).grad
        places = [tuple(random.integers(array.shape)) for _ in range(3)]
        expected = central_difference(total, array, places=places)
        ours = [gradient[place].item() for place in places]
        np.testing.assert_allclose(ours, expected, **CLOSE, err_msg=label)
        found += ours
    for position, leaf in enumerate(leaves):
        expected = central_difference(total, examples[0][position])
        assert leaf.grad is not None
        np.testing.assert_allclose(leaf.grad[0, : len(expected)].numpy(), expected, **CLOSE)
        found += leaf.grad[0].flatten().tolist()
    assert np.count_nonzero(found) > len(found) / 5  # the rest died in a ReLU


def test_worked_example_one_word_shared() -> None:
    made = identity(num_layers=1)
    layers = made.interact(*pair([[1, 0], [0, 1]], [[1, 0]]))
    assert matrices(layers)[0].tolist() == [[[1], [0]]]
    assert documents(layers)[1].tolist() == [[[1, 0], [0, 0]]]
    assert queries(layers)[1].tolist() == [[[1, 0]]]
    to_source, to_target = channels(made, [[1, 0], [0, 1]], [[1, 0]])
    assert to_source == pytest.approx(np.sqrt(2 - np.sqrt(2)), abs=1e-12)
    assert to_source == pytest.approx(0.7653669, abs=1e-7)
    assert to_target == pytest.approx(0, abs=1e-11)
    value = score(made, [[1, 0], [0, 1]], [[1, 0]])
    assert -value == pytest.approx(0.3826834, abs=1e-7)


def test_worked_example_equal_texts() -> None:
    assert score(identity(num_layers=1), np.eye(2), np.eye(2)) == pytest.approx(0, abs=1e-11)


def test_static_identity_layers_are_powers_of_the_matrix() -> None:
    made = identity(num_layers=3)
    query, document = np.abs(texts(dim=2)[0][0]), np.abs(texts(dim=2)[0][1])
    layers = made.interact(*pair(query, document))
    A = matrices(layers)[0][0].detach().numpy()
    np.testing.assert_allclose(documents(layers)[3][0].detach(), A @ A.T @ A @ document, **EXACT)
    np.testing.assert_allclose(queries(layers)[3][0].detach(), A.T @ A @ A.T @ query, **EXACT)


def test_external_matrix_takes_the_place_of_the_cosines() -> None:
    made = model()
    q, d = texts()[0]
    links = np.random.default_rng(0).integers(0, 2, size=(4, 3)).astype(float)
    padded = torch.zeros((1, 5, 4), dtype=torch.float64)
    padded[0, :4, :3] = torch.from_numpy(links)
    layers = made.interact(side([q]), side([d]), padded)
    expected = reference(made, q, d, A0=links)
    np.testing.assert_allclose(documents(layers)[-1][0, :4].detach(), expected.D[-1], **EXACT)
    np.testing.assert_allclose(queries(layers)[-1][0, :3].detach(), expected.Q[-1], **EXACT)


def test_one_channel_alone() -> None:
    q, d = texts()[0]
    source, target = model(gamma=1.0, delta=0.0), model(gamma=0.0, delta=1.0)
    assert -score(source, q, d) == pytest.approx(reference(source, q, d).dist_src, abs=1e-10)
    assert -score(target, q, d) == pytest.approx(reference(target, q, d).dist_tgt, abs=1e-10)


def test_initial_weights_are_uniform_within_one_over_root_k() -> None:
    torch.manual_seed(0)
    made = IASM(IASMConfig(), WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=100)))
    for parameter in made.parameters():
        assert parameter.abs().max() <= 0.1
        assert float(parameter.detach().std()) == pytest.approx(0.1 / np.sqrt(3), rel=0.15)

"""IASM against the slow NumPy version of its equations, and the properties they imply."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from iasm_reference import Trace, Weights, iasm
from torch import Tensor

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.interact import Interaction, WordWeights
from matchwork.models import IASM, IASMConfig

K = 5
EXACT = {"rtol": 1e-10, "atol": 1e-10}
LENGTHS = [(4, 3), (1, 6), (5, 1), (2, 2)]
OTHER_WEIGHTS = {"alpha": 0.4, "beta": 1.3, "gamma": 0.9, "delta": 0.2}
VARIANTS = [
    pytest.param(
        {"num_layers": depth, "update": update, "norm": norm, **weights},
        id=f"{update}-{depth}-{norm}{'-weights' if weights else ''}",
    )
    for update in ("static", "dynamic")
    for depth in (1, 3, 5)
    for norm, weights in (("matrix", {}), ("row", {}), ("matrix", OTHER_WEIGHTS))
]


def model(seed: int = 0, dim: int = K, **config: Any) -> IASM:
    torch.manual_seed(seed)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=dim))
    made = IASM(IASMConfig(**config), encoder).double()
    with torch.no_grad():  # larger than the initial values: every layer bends something
        for parameter in made.parameters():
            parameter.mul_(2.0)
    return made


def texts(seed: int = 0, dim: int = K) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(seed)
    return [(random.normal(size=(m, dim)), random.normal(size=(n, dim))) for m, n in LENGTHS]


def side(rows: list[np.ndarray], garbage: float = 9.0, extra: int = 1) -> Encoded:
    width = max(len(row) for row in rows) + extra
    vectors = torch.full((len(rows), width, rows[0].shape[1]), garbage, dtype=torch.float64)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
        mask[i, : len(row)] = True
    return Encoded(vectors, mask)


def weights_of(made: IASM) -> Weights:
    return Weights(*(p.detach().numpy().copy() for p in (made.Wq, made.Wd, made.bq, made.bd)))


def reference(
    made: IASM, query: np.ndarray, document: np.ndarray, weights: Weights | None = None
) -> Trace:
    c = made.config
    return iasm(
        query,
        document,
        weights or weights_of(made),
        update=c.update,
        alpha=c.alpha,
        beta=c.beta,
        gamma=c.gamma,
        delta=c.delta,
        norm=c.norm,
    )


def pair(query: Any, document: Any) -> tuple[Encoded, Encoded]:
    return side([np.array(query, dtype=float)], extra=0), side(
        [np.array(document, dtype=float)], extra=0
    )


def score(made: IASM, query: np.ndarray, document: np.ndarray) -> float:
    return made.match(*pair(query, document)).scores.item()


@pytest.mark.parametrize("config", VARIANTS)
def test_values_of_a_ragged_batch(config: dict[str, Any]) -> None:
    made = model(**config)
    examples = texts()
    query, document = side([q for q, _ in examples]), side([d for _, d in examples], extra=2)
    scores = made.match(query, document).scores.detach().numpy()
    layers = made.interact(query, document)
    for row, (q, d) in enumerate(examples):
        expected = reference(made, q, d)
        np.testing.assert_allclose(-scores[row], expected.s, **EXACT)
        for t, matrix in enumerate(layers.matrices):
            height, width = expected.A[t].shape
            found = matrix[row].detach().numpy()
            np.testing.assert_allclose(found[:height, :width], expected.A[t], **EXACT)
            assert not found[height:].any() and not found[:, width:].any()
        for ours, theirs in ((layers.queries, expected.Q), (layers.documents, expected.D)):
            assert len(ours) == len(theirs) == made.config.num_layers + 1
            for found_rows, rows in zip(ours, theirs, strict=True):
                whole = found_rows[row].detach().numpy()
                np.testing.assert_allclose(whole[: len(rows)], rows, **EXACT)
                assert not whole[len(rows) :].any()


def central_difference(function: Any, array: np.ndarray, step: float = 1e-6) -> np.ndarray:
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        gradient[index] = (above - below) / (2 * step)
    return gradient


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
    random = np.random.default_rng(1)
    examples = [
        (random.normal(size=(m, 3)), random.normal(size=(n, 3))) for m, n in [(2, 3), (1, 2)]
    ]
    sides = [side([q for q, _ in examples]), side([d for _, d in examples])]
    leaves = [encoded.vectors.clone().requires_grad_() for encoded in sides]
    query, document = (Encoded(v, e.mask) for v, e in zip(leaves, sides, strict=True))
    made.match(query, document).scores.sum().backward()

    weights = weights_of(made)

    def total() -> float:
        return -sum(reference(made, q, d, weights).s for q, d in examples)

    close = {"rtol": 1e-5, "atol": 1e-7}
    for name in ("Wq", "Wd", "bq", "bd"):
        expected = central_difference(total, getattr(weights, name))
        found = getattr(made, name).grad.numpy()
        np.testing.assert_allclose(found, expected, **close, err_msg=name)
        assert (np.abs(expected).reshape(len(expected), -1).max(axis=1) > 1e-6).all(), name
    for position, leaf in enumerate(leaves):
        assert leaf.grad is not None
        for row, example in enumerate(examples):
            expected = central_difference(total, example[position])
            length = len(example[position])
            np.testing.assert_allclose(leaf.grad[row, :length].numpy(), expected, **close)
            assert (leaf.grad[row, length:] == 0).all()


def identity(**config: Any) -> IASM:
    made = model(dim=2, update="static", **config)
    with torch.no_grad():
        for projection in (made.Wq, made.Wd):
            projection.copy_(torch.eye(2, dtype=torch.float64).expand_as(projection))
        made.bq.zero_()
        made.bd.zero_()
    return made


def channels(made: IASM, query: Any, document: Any) -> tuple[float, float]:
    squares = made.distances(made.interact(*pair(query, document)))
    return tuple(square.sum().sqrt().item() for square in squares)  # type: ignore[return-value]


def test_worked_example_one_word_shared() -> None:
    made = identity(num_layers=1)
    layers = made.interact(*pair([[1, 0], [0, 1]], [[1, 0]]))
    assert layers.matrices[0].tolist() == [[[1], [0]]]
    assert layers.documents[1].tolist() == [[[1, 0], [0, 0]]]
    assert layers.queries[1].tolist() == [[[1, 0]]]
    to_source, to_target = channels(made, [[1, 0], [0, 1]], [[1, 0]])
    assert to_source == pytest.approx(np.sqrt(2 - np.sqrt(2)), abs=1e-12)
    assert to_source == pytest.approx(0.7653669, abs=1e-7)
    assert to_target == pytest.approx(0, abs=1e-11)
    value = score(made, [[1, 0], [0, 1]], [[1, 0]])  # type: ignore[arg-type]
    assert -value == pytest.approx(0.3826834, abs=1e-7)


def test_worked_example_equal_texts() -> None:
    assert score(identity(num_layers=1), np.eye(2), np.eye(2)) == pytest.approx(0, abs=1e-11)


def test_static_identity_layers_are_powers_of_the_matrix() -> None:
    made = identity(num_layers=3)
    query, document = np.abs(texts(dim=2)[0][0]), np.abs(texts(dim=2)[0][1])
    layers = made.interact(*pair(query, document))
    A = layers.matrices[0][0].detach().numpy()
    np.testing.assert_allclose(layers.documents[3][0].detach(), A @ A.T @ A @ document, **EXACT)
    np.testing.assert_allclose(layers.queries[3][0].detach(), A.T @ A @ A.T @ query, **EXACT)


# The property tests of the specification; loss and the first two are also contract tests.


def test_property_1_padding() -> None:
    made = model()
    queries, documents = zip(*texts(), strict=True)
    plain = made.match(side(list(queries), extra=0), side(list(documents), extra=0)).scores
    for garbage in (3.0, np.inf, np.nan):
        wide = made.match(side(list(queries), garbage, 7), side(list(documents), garbage, 2))
        torch.testing.assert_close(wide.scores, plain, **EXACT)


def test_property_2_batch_order_and_batch_of_one() -> None:
    made = model()
    examples = texts()
    together = made.match(side([q for q, _ in examples]), side([d for _, d in examples])).scores
    alone = [score(made, q, d) for q, d in examples]
    np.testing.assert_allclose(together.detach(), alone, **EXACT)
    backwards = made.match(
        side([q for q, _ in examples[::-1]]), side([d for _, d in examples[::-1]])
    ).scores
    torch.testing.assert_close(backwards, together.flip(0), **EXACT)


@pytest.mark.parametrize(("num_layers", "same"), [(1, True), (3, False)])
def test_property_3_one_layer_static_is_dynamic(num_layers: int, same: bool) -> None:
    for q, d in texts():
        static = model(num_layers=num_layers, update="static")
        dynamic = model(num_layers=num_layers, update="dynamic")
        assert (score(static, q, d) == score(dynamic, q, d)) is same


@pytest.mark.parametrize("update", ["static", "dynamic"])
def test_property_4_shapes_alternate(update: str) -> None:
    made = model(num_layers=5, update=update)
    m, n = 4, 3
    layers = made.interact(*pair(*texts()[0]))
    for t, matrix in enumerate(layers.matrices):
        assert matrix.shape[1:] == ((n, m) if t % 2 else (m, n))
    for t in range(6):
        assert layers.queries[t].shape[1:] == ((n, K) if t % 2 else (m, K))
        assert layers.documents[t].shape[1:] == ((m, K) if t % 2 else (n, K))


@pytest.mark.parametrize("depth", [2, 4])
def test_property_4_even_depth_is_an_error_that_explains(depth: int) -> None:
    with pytest.raises(ConfigError, match=f"must be odd, got {depth}: each layer swaps the roles"):
        IASMConfig(num_layers=depth)
    with pytest.raises(ConfigError, match=f"Use {depth - 1} or {depth + 1}, or even_mode"):
        IASMConfig(num_layers=depth)


@pytest.mark.parametrize("update", ["static", "dynamic"])
def test_even_depth_can_compare_same_side(update: str) -> None:
    made = model(num_layers=2, update=update, even_mode="same_side")
    for q, d in texts():
        assert -score(made, q, d) == pytest.approx(reference(made, q, d).s, abs=1e-10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"gamma": -0.1}, "gamma and delta must not be negative"),
        ({"gamma": 0.0, "delta": 0.0}, "nor both zero, got 0.0 and 0.0"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        IASMConfig(**settings)


@given(
    scale=st.floats(1e-2, 1e3), row=st.integers(0, 3), update=st.sampled_from(["static", "dynamic"])
)
def test_property_5_scale_of_one_text(scale: float, row: int, update: str) -> None:
    made = model(update=update)
    with torch.no_grad():
        made.bq.zero_()
        made.bd.zero_()
    q, d = texts()[row]
    assert score(made, scale * q, d) == pytest.approx(score(made, q, d), abs=1e-9)


@given(order=st.permutations(range(4)), other=st.permutations(range(3)))
def test_property_6_word_order(order: list[int], other: list[int]) -> None:
    made = model()
    q, d = texts()[0]
    assert score(made, q[order], d[other]) == pytest.approx(score(made, q, d), abs=1e-10)
    straight, turned = made.interact(*pair(q, d)), made.interact(*pair(q[order], d))
    torch.testing.assert_close(turned.documents[3], straight.documents[3][:, order], **EXACT)


@given(seed=st.integers(0, 10_000), update=st.sampled_from(["static", "dynamic"]))
def test_property_7_bounds(seed: int, update: str) -> None:
    made = model(seed=seed, update=update)
    q, d = texts(seed)[seed % 4]
    for distance in channels(made, q, d):
        assert 0 <= distance <= 2 + 1e-12


def test_property_7_no_distance_between_equal_matrices() -> None:
    # One word, the same on both sides: every layer gives it back.
    to_source, to_target = channels(identity(num_layers=3), [[0.6, 0.8]], [[3.0, 4.0]])
    assert to_source == pytest.approx(0, abs=1e-7)
    assert to_target == pytest.approx(0, abs=1e-7)


def test_a_zero_matrix_is_at_distance_one() -> None:
    made = identity(num_layers=1)
    assert channels(made, [[1.0, 0.0]], [[0.0, 1.0]]) == pytest.approx((1.0, 1.0), abs=1e-12)


@pytest.mark.parametrize("update", ["static", "dynamic"])
def test_property_8_symmetry(update: str) -> None:
    made = model(update=update, gamma=0.7, delta=0.1)
    mirrored = model(update=update, gamma=0.1, delta=0.7)
    with torch.no_grad():
        mirrored.Wq.copy_(made.Wd)
        mirrored.Wd.copy_(made.Wq)
        mirrored.bq.copy_(made.bd)
        mirrored.bd.copy_(made.bq)
    for q, d in texts():
        assert score(mirrored, d, q) == pytest.approx(score(made, q, d), abs=1e-10)


def test_property_9_autograd_agrees_with_itself() -> None:
    made = model(seed=1, dim=3)
    q, d = texts(dim=3)[0]
    masks = torch.ones(1, len(q), dtype=torch.bool), torch.ones(1, len(d), dtype=torch.bool)

    def scores(query: Tensor, document: Tensor) -> Tensor:
        return made.match(Encoded(query, masks[0]), Encoded(document, masks[1])).scores

    inputs = [torch.from_numpy(x)[None].requires_grad_() for x in (q, d)]
    assert torch.autograd.gradcheck(scores, inputs)


def test_property_11_static_matrices_repeat() -> None:
    matrices = model(num_layers=5, update="static").interact(*pair(*texts()[0])).matrices
    for t in range(len(matrices) - 2):
        assert torch.equal(matrices[t + 2], matrices[t])
    assert torch.equal(matrices[1], matrices[0].transpose(1, 2))


def test_external_matrix_takes_the_place_of_the_cosines() -> None:
    made = model()
    q, d = texts()[0]
    links = np.random.default_rng(0).integers(0, 2, size=(4, 3)).astype(float)
    padded = torch.full((1, 5, 4), torch.nan, dtype=torch.float64)
    padded[0, :4, :3] = torch.from_numpy(links)
    layers = made.interact(side([q]), side([d]), padded)
    expected = iasm(q, d, weights_of(made), update="dynamic", A0=links)
    np.testing.assert_allclose(layers.documents[-1][0, :4].detach(), expected.D[-1], **EXACT)
    np.testing.assert_allclose(layers.queries[-1][0, :3].detach(), expected.Q[-1], **EXACT)


@pytest.mark.parametrize("config", VARIANTS)
def test_shares_of_the_words_add_up_to_the_distance(config: dict[str, Any]) -> None:
    made = model(**config)
    examples = texts()
    output = made.match(side([q for q, _ in examples]), side([d for _, d in examples]))
    total = torch.zeros(len(examples), dtype=torch.float64)
    for evidence in output.evidence.values():
        if isinstance(evidence, WordWeights):
            assert (evidence.values >= 0).all()
            total = total + evidence.values.sum(dim=1)
    torch.testing.assert_close(total, -output.scores, **EXACT)


def test_matching_tables_are_query_by_document_in_every_layer() -> None:
    made = model(num_layers=3)
    q, d = texts()[0]
    evidence = made.match(*pair(q, d)).evidence
    expected = reference(made, q, d)
    for t in range(3):
        table = evidence[f"matching_{t}"]
        assert isinstance(table, Interaction)
        upright = expected.A[t].T if t % 2 else expected.A[t]
        np.testing.assert_allclose(table.values[0].detach(), upright, **EXACT)


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

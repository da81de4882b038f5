"""The properties that IASM's specification lists, by their numbers.

Number 10, of the loss, is tested with the losses; the first two are contract tests as well.
"""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from iasm_setup import (
    EXACT,
    K,
    channels,
    documents,
    identity,
    matrices,
    model,
    pair,
    queries,
    reference,
    score,
    side,
    texts,
)
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.models import IASMConfig


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
    for t, matrix in enumerate(matrices(layers)):
        assert matrix.shape[1:] == ((n, m) if t % 2 else (m, n))
    for t in range(6):
        assert queries(layers)[t].shape[1:] == ((n, K) if t % 2 else (m, K))
        assert documents(layers)[t].shape[1:] == ((m, K) if t % 2 else (n, K))


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
        ({"head": "cnn", "update": "static"}, 'use update = "dynamic"'),
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
    torch.testing.assert_close(documents(turned)[3], documents(straight)[3][:, order], **EXACT)


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
    tables = matrices(model(num_layers=5, update="static").interact(*pair(*texts()[0])))
    for t in range(len(tables) - 2):
        assert torch.equal(tables[t + 2], tables[t])
    assert torch.equal(tables[1], tables[0].transpose(1, 2))

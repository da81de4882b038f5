"""Every loss against plain loops, with its gradient; and what masks and margins promise."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from matchwork.errors import UnknownNameError
from matchwork.train import LOSSES, TrainConfig
from matchwork.train.losses import Loss, hinge

NAMES = ["cross-entropy", "squared", "hinge", "softmax"]
MARGIN = 0.7
TEMPERATURE = 0.4


def slow_cross_entropy(scores, labels, mask):
    terms = []
    for i, j in np.argwhere(mask):
        p = 1 / (1 + math.exp(-scores[i, j]))
        terms.append(-math.log(p if labels[i, j] > 0 else 1 - p))
    return sum(terms) / max(1, len(terms))


def slow_squared(scores, labels, mask):
    terms = [(scores[i, j] - labels[i, j]) ** 2 for i, j in np.argwhere(mask)]
    return sum(terms) / max(1, len(terms))


def slow_hinge(scores, labels, mask):
    total = 0.0
    for i in range(len(scores)):
        places = np.flatnonzero(mask[i])
        for p in places[labels[i, places] > 0]:
            for n in places[labels[i, places] <= 0]:
                total += max(0.0, MARGIN - scores[i, p] + scores[i, n])
    return total / len(scores)


def slow_softmax(scores, labels, mask):
    total = 0.0
    for i in range(len(scores)):
        places = np.flatnonzero(mask[i])
        grades = labels[i, places].sum()
        if grades > 0:
            logits = scores[i] / TEMPERATURE
            normaliser = math.log(sum(math.exp(logits[j]) for j in places))
            for j in places:
                total -= labels[i, j] / grades * (logits[j] - normaliser)
    return total / len(scores)


SLOW: dict[str, Callable[..., float]] = {
    "cross-entropy": slow_cross_entropy,
    "squared": slow_squared,
    "hinge": slow_hinge,
    "softmax": slow_softmax,
}


def loss_named(name: str) -> Loss:
    negatives = "own" if name in ("hinge", "softmax") else "labelled"
    only = {"temperature": TEMPERATURE} if name == "softmax" else {}
    return TrainConfig(loss=name, margin=MARGIN, negatives=negatives, **only).make_loss()


def groups(seed: int, num: int = 5, width: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    random = np.random.default_rng(seed)
    scores = torch.from_numpy(random.normal(scale=2.0, size=(num, width))).requires_grad_()
    labels = torch.from_numpy(random.integers(0, 3, size=(num, width)).astype(np.float32))
    mask = torch.from_numpy(random.random((num, width)) < 0.7)
    mask[0] = False  # a group with nothing in it
    labels[1] = 0.0  # and one without a positive
    return scores, labels, mask


def test_all_losses_are_tested():
    assert sorted(NAMES) == list(LOSSES)
    with pytest.raises(UnknownNameError, match="no loss named 'hing'; did you mean 'hinge'"):
        LOSSES["hing"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_values_and_gradients(name: str, seed: int):
    scores, labels, mask = groups(seed)
    loss = loss_named(name)(scores, labels, mask)
    loss.backward()
    plain = scores.detach().numpy().copy()
    arrays = labels.numpy().astype(np.float64), mask.numpy()
    assert loss.dtype == torch.float64
    assert loss.item() == pytest.approx(SLOW[name](plain, *arrays), rel=1e-12, abs=1e-12)
    assert scores.grad is not None
    for place in np.ndindex(*plain.shape):
        values = []
        for step in (1e-6, -1e-6):
            plain[place] += step
            values.append(SLOW[name](plain, *arrays))
            plain[place] -= step
        difference = (values[0] - values[1]) / 2e-6
        assert float(scores.grad[place]) == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("garbage", [1e4, -1e4, math.inf, -math.inf, math.nan])
def test_masked_entries_change_nothing(name: str, garbage: float):
    scores, labels, mask = groups(seed=9)
    expected = loss_named(name)(scores, labels, mask)
    dirty = scores.detach().masked_fill(~mask, garbage).requires_grad_()
    loss = loss_named(name)(dirty, labels.masked_fill(~mask, 1.0), mask)
    assert loss.item() == expected.item()
    if math.isfinite(garbage):
        loss.backward()
        assert dirty.grad is not None and not dirty.grad[~mask].any()


@pytest.mark.parametrize("name", NAMES)
def test_the_batch_size_does_not_change_the_scale(name: str):
    scores, labels, mask = groups(seed=3)
    once = loss_named(name)(scores, labels, mask)
    thrice = loss_named(name)(*(tensor.repeat(3, 1) for tensor in (scores, labels, mask)))
    torch.testing.assert_close(once, thrice, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_all_is_zero_and_differentiable(name: str):
    scores, labels, mask = groups(seed=3)
    loss = loss_named(name)(scores, labels, torch.zeros_like(mask))
    loss.backward()
    assert loss.item() == 0.0 and scores.grad is not None and not scores.grad.any()


distances = st.lists(
    st.floats(0, 4, allow_nan=False).map(lambda x: round(x, 2)), min_size=2, max_size=6
)


@given(distances, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_hinge_is_zero_iff_negatives_keep_the_margin(group: list[float], margin: float):
    """IASM: distances, so a negative has to be farther away by the margin."""
    scores = -torch.tensor([group], dtype=torch.float64)
    labels = torch.tensor([[1.0] + [0.0] * (len(group) - 1)])
    loss = hinge(scores, labels, torch.ones_like(labels, dtype=torch.bool), margin=margin)
    gaps = [margin - scores[0, 0].item() + s for s in scores[0, 1:].tolist()]
    kept = all(gap <= 1e-12 for gap in gaps)
    assert loss.item() == pytest.approx(sum(max(0.0, gap) for gap in gaps), abs=1e-12)
    assert (loss.item() <= 1e-11) == kept


def test_hinge_gradient_pushes_the_right_way():
    scores = torch.tensor([[0.0, 0.5, -3.0]], dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([[1.0, 0.0, 0.0]])
    hinge(scores, labels, torch.ones(1, 3, dtype=torch.bool)).backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[-1.0, 1.0, 0.0]]  # the far negative is left alone


def test_softmax_of_one_positive_is_its_log_probability():
    scores = torch.tensor([[2.0, 1.0, 0.0]], dtype=torch.float64)
    labels = torch.tensor([[0.0, 1.0, 0.0]])
    loss = loss_named("softmax")(scores, labels, torch.ones(1, 3, dtype=torch.bool))
    assert loss.item() == pytest.approx(
        -torch.log_softmax(scores / TEMPERATURE, dim=-1)[0, 1].item()
    )

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.encode import Encoded
from matchwork.interact import (
    Interaction,
    WordWeights,
    cosine,
    cosine_table,
    masked_max,
    masked_mean,
    masked_softmax,
    row_lengths,
)

GARBAGE = [0.0, 1e30, float("inf"), float("-inf"), float("nan")]
real = st.lists(st.floats(-50, 50), max_size=5)


def padded(
    values: list[float], garbage: float, extra: int = 2
) -> tuple[torch.Tensor, torch.Tensor]:
    row = torch.tensor([*values, *[garbage] * extra], dtype=torch.float64)
    return row[None].requires_grad_(), (torch.arange(len(row)) < len(values))[None]


@given(values=real, garbage=st.sampled_from(GARBAGE))
def test_softmax(values: list[float], garbage: float) -> None:
    row, mask = padded(values, garbage)
    weights = masked_softmax(row, mask)
    assert (weights[~mask] == 0).all()
    expected = np.exp(np.array(values) - max(values, default=0))
    found = weights[mask].detach().numpy()
    np.testing.assert_allclose(found, expected / expected.sum() if values else [], atol=1e-12)
    (weights * torch.arange(weights.shape[1])).sum().backward()
    assert row.grad is not None and torch.isfinite(row.grad).all()
    assert (row.grad[~mask] == 0).all()


@given(values=real, garbage=st.sampled_from(GARBAGE))
def test_max(values: list[float], garbage: float) -> None:
    row, mask = padded(values, garbage)
    largest = masked_max(row, mask)
    assert largest.item() == max(values, default=0.0)
    largest.sum().backward()
    assert row.grad is not None and torch.isfinite(row.grad).all()
    assert (row.grad[~mask] == 0).all()


@given(values=real, garbage=st.sampled_from(GARBAGE))
def test_mean(values: list[float], garbage: float) -> None:
    row, mask = padded(values, garbage)
    mean = masked_mean(row, mask)
    assert mean.item() == pytest.approx(np.mean(values) if values else 0.0, abs=1e-12)
    mean.sum().backward()
    assert row.grad is not None and torch.isfinite(row.grad).all()
    assert (row.grad[~mask] == 0).all()


def test_reductions_along_another_dimension() -> None:
    values = torch.tensor([[1.0, -3.0], [2.0, -4.0], [9.0, 9.0]])
    mask = torch.tensor([[True, True], [True, True], [False, False]])
    assert masked_max(values, mask, dim=0).tolist() == [2.0, -3.0]
    assert masked_mean(values, mask, dim=0).tolist() == [1.5, -3.5]
    torch.testing.assert_close(masked_softmax(values, mask, dim=0).sum(dim=0), torch.ones(2))


def test_large_values_do_not_overflow() -> None:
    row, mask = torch.tensor([[1e30, 1e30, 0.0]]), torch.tensor([[True, True, False]])
    assert masked_softmax(row, mask).tolist() == [[0.5, 0.5, 0.0]]


def test_cosine_of_every_pair_of_words() -> None:
    random = np.random.default_rng(0)
    query, document = random.normal(size=(2, 3, 4)), random.normal(size=(2, 5, 4))
    query[0, 1] = 0.0
    table = cosine_table(torch.from_numpy(query), torch.from_numpy(document))
    for b, i, j in np.ndindex(2, 3, 5):
        x, y = query[b, i], document[b, j]
        expected = x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), 1e-8)
        assert table[b, i, j].item() == pytest.approx(expected, abs=1e-12)
    assert (table[0, 1] == 0).all()


def test_zero_vectors_have_a_finite_gradient() -> None:
    vectors = torch.zeros(1, 2, 3, requires_grad=True)
    (cosine_table(vectors, torch.ones(1, 1, 3)).sum() + row_lengths(vectors).sum()).backward()
    assert vectors.grad is not None and torch.isfinite(vectors.grad).all()


def test_cosine_is_zero_at_padding() -> None:
    mask = torch.tensor([[True, False]])
    side = Encoded(torch.full((1, 2, 3), 2.0), mask)
    table = cosine(side, side)
    assert table.values[0].tolist() == [[pytest.approx(1.0), 0.0], [0.0, 0.0]]
    assert table.mask[0].tolist() == [[True, False], [False, False]]


def test_evidence_fits_its_mask() -> None:
    flat, cube = torch.zeros(1, 2), torch.zeros(1, 2, 3)
    with pytest.raises(ValueError, match=r"\(batch, query, document\) with an equal mask"):
        Interaction(flat, flat.bool())
    with pytest.raises(ValueError, match=r"\(batch, length\) with an equal mask"):
        WordWeights(cube, cube.bool(), "query")

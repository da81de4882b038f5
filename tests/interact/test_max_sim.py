"""MaxSim against two loops; padding is left out of the maximum, not set to 0."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from matchwork.interact import max_sim

SIZES = st.integers(1, 5)


def some(*shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@given(seed=st.integers(0, 10**6), rows=SIZES, columns=SIZES, padding=st.integers(0, 3))
def test_is_the_sum_of_the_best_cosines(seed, rows, columns, padding):
    query, document = some(2, rows + padding, 3, seed=seed), some(2, columns + 1, 3, seed=seed + 1)
    query_mask = (torch.arange(rows + padding) < rows).expand(2, -1)
    document_mask = (torch.arange(columns + 1) < columns).expand(2, -1)
    found = max_sim(query, document, query_mask, document_mask)
    for item in range(2):
        total = 0.0
        for i in range(rows + padding):
            if i >= rows:
                assert found.values[item, i] == 0 and found.positions[item, i] == -1
                continue
            q = query[item, i].numpy()
            cosines = [
                q @ d / np.linalg.norm(q) / np.linalg.norm(d)
                for d in document[item, :columns].numpy()
            ]
            assert found.positions[item, i] == int(np.argmax(cosines))
            assert found.values[item, i].item() == pytest.approx(max(cosines))
            total += max(cosines)
        assert found.scores[item].item() == pytest.approx(total)
    torch.testing.assert_close(found.alignment().sum((1, 2)), found.scores)
    torch.testing.assert_close(found.alignment().sum(2), found.values)


def test_padding_does_not_beat_a_negative_cosine():
    query, document = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[-1.0, 0.0], [0.0, 0.0]]])
    mask = torch.tensor([[True, False]])
    assert max_sim(query, document, torch.tensor([[True]]), mask).scores.tolist() == [-1.0]


@pytest.mark.parametrize("lengths", [(0, 2), (2, 0), (0, 0)])
def test_an_empty_document_is_the_worst_answer(lengths):
    query, document = (some(1, 2, 3, seed=seed).requires_grad_() for seed in (1, 2))
    masks = [torch.arange(2)[None] < length for length in lengths]
    found = max_sim(query, document, *masks)
    least = -2.0 if lengths == (2, 0) else 0.0  # of as many query tokens
    assert found.scores.item() == least and (found.alignment() == 0).all()
    found.scores.sum().backward()
    assert (query.grad == 0).all() and (document.grad == 0).all()


def test_gradients():
    mask = torch.tensor([[True, True, False]])

    def scores(query, document):
        return max_sim(query, document, mask, mask).scores

    inputs = [some(1, 3, 4, seed=seed).requires_grad_() for seed in (1, 2)]
    assert gradcheck(scores, inputs)

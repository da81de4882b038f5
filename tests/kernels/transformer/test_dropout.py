"""Sixteen random bits a value: the same shares, mean and seeds as PyTorch's own dropout."""

import pytest
import torch

from matchwork.kernels.transformer.dropout import dropout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(3,), (5, 7), (200, 301)])
def test_values_are_dropped_or_made_larger(share, shape):
    torch.manual_seed(0)
    found = dropout(torch.ones(shape, dtype=torch.float64), share)
    kept = found != 0
    torch.testing.assert_close(
        found[kept], torch.full_like(found[kept], 1 / (1 - share)), rtol=1e-4, atol=0
    )
    if found.numel() > 10_000:
        assert abs(float(kept.double().mean()) - (1 - share)) < 0.005
        assert abs(float(found.mean()) - 1) < 0.02


def test_neighbours_are_dropped_independently():
    torch.manual_seed(0)
    kept = (dropout(torch.ones(400_000), 0.5) != 0).float() - 0.5
    for apart in range(1, 9):  # four of them share a draw
        assert abs(float((kept[apart:] * kept[:-apart]).mean())) < 0.003


def test_gradients_pass_where_values_do():
    torch.manual_seed(0)
    values = torch.randn(50, 4, dtype=torch.float64, requires_grad=True)
    found = dropout(values, 0.3)
    found.sum().backward()
    torch.testing.assert_close(values.grad * values.detach(), found.detach())


@pytest.mark.parametrize(("share", "kept"), [(0.0, 1.0), (1e-9, 1.0), (1.0, 0.0)])
def test_shares_that_leave_no_choice(share, kept):
    assert torch.equal(dropout(torch.ones(6), share), torch.full((6,), kept))

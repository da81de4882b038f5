"""Linear layers by oneDNN: PyTorch's numbers, and its gradients where something is learnt."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from matchwork.kernels import linear as module
from matchwork.kernels.linear import apply, linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 8), (2, 5, 8), (64, 8), (3, 11, 8), (8,), (0, 8)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_are_those_of_pytorch(dtype, shape, bias):
    torch.manual_seed(0)
    values, weight = torch.randn(shape, dtype=dtype), torch.randn(6, 8, dtype=dtype)
    added = torch.randn(6, dtype=dtype) if bias else None
    with torch.no_grad():
        torch.testing.assert_close(
            linear(values, weight, added), functional.linear(values, weight, added)
        )
        turned = linear(values, weight.T.contiguous().T, added)  # as a gate's weights are given
        torch.testing.assert_close(turned, functional.linear(values, weight, added))


def test_what_is_learnt_has_gradients():
    layer, values = nn.Linear(4, 3), torch.randn(5, 4)
    apply(layer, values).sum().backward()
    torch.testing.assert_close(layer.weight.grad, values.sum(dim=0).expand(3, 4))


def test_a_layer_of_another_kind_is_called():
    class Twice(nn.Linear):
        def forward(self, values):
            return 2 * super().forward(values)

    layer, values = Twice(4, 3), torch.randn(5, 4)
    with torch.no_grad():
        torch.testing.assert_close(
            apply(layer, values), 2 * functional.linear(values, layer.weight, layer.bias)
        )


def test_numbers_of_rows_are_few(monkeypatch):
    """For each of them, a program is compiled and kept."""
    seen = set()

    def product(values, weight, *_):
        seen.add(len(values))
        return functional.linear(values, weight)

    monkeypatch.setattr(module, "_HAS_ONEDNN", True)
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", product)
    weight = torch.randn(2, 3)
    with torch.no_grad():
        for rows in range(1, 100):
            assert linear(torch.ones(rows, 3), weight).shape == (rows, 2)
    assert seen == {32, 64, 96, 128}


def test_weights_of_other_types_are_named_by_pytorch():
    with torch.no_grad(), pytest.raises(RuntimeError, match="same dtype"):
        linear(torch.ones(40, 3), torch.ones(2, 3, dtype=torch.bfloat16))

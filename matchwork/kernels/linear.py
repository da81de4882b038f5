"""Linear layers of numbers that nothing is learnt from: by oneDNN.

For 32-bit numbers PyTorch asks MKL, which on processors that are not Intel's uses half the width
that they have: on an AMD EPYC with AVX-512, oneDNN is 2.2 times as fast, with the same rounding.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

_FAST = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
# oneDNN compiles, and keeps, a program for every number of rows that it sees, of which texts have
# any: they are rounded up. Of fewer than `_FEW` rows MKL is faster.
_ROUND, _FEW = 32, 4


def linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`functional.linear`."""
    rows = values.numel() // max(1, values.shape[-1])
    if rows < _FEW or not _is_for_onednn(values, weight):
        return functional.linear(values, weight, bias)
    flat = values.reshape(rows, values.shape[-1])
    if missing := -rows % _ROUND:
        flat = functional.pad(flat, (0, 0, 0, missing))
    product: Tensor = torch.ops.mkldnn._linear_pointwise(flat, weight, bias, "none", [], "")
    return product[:rows].view(*values.shape[:-1], -1)


def apply(layer: nn.Module, values: Tensor) -> Tensor:
    """`layer(values)`; one that is not linear is left to itself."""
    if type(layer) is nn.Linear:
        return linear(values, layer.weight, layer.bias)
    result: Tensor = layer(values)
    return result


def _is_for_onednn(values: Tensor, weight: Tensor) -> bool:
    if not _FAST or torch.is_grad_enabled() or torch.is_autocast_enabled("cpu"):
        return False
    return values.dtype == weight.dtype == torch.float32 and values.device.type == "cpu"

"""Dropout that draws random numbers four at a time (16 bits each), much faster on a CPU."""

import torch
from torch import Tensor
from torch.nn import functional

from matchwork.kernels.switch import kernel

_LEVELS = 1 << 16


@kernel("dropout", plain=lambda values, rate: functional.dropout(values, rate))
def dropout(values: Tensor, rate: float) -> Tensor:
    """Set about a share `rate` of `values` to 0 and scale the others up; follows PyTorch's seed."""
    threshold = round(rate * _LEVELS)
    if not 0 < threshold < _LEVELS:
        return functional.dropout(values, rate)
    draws = torch.empty(-(-values.numel() // 4), dtype=torch.int64, device=values.device)
    levels = draws.random_(-(1 << 63), None).view(torch.int16)[: values.numel()]
    keep = levels.ge_(threshold - _LEVELS // 2).view(values.shape).to(values.dtype)
    return values * keep.mul_(_LEVELS / (_LEVELS - threshold))

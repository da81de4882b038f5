"""The types that numbers are multiplied and added up in."""

import torch
from torch import Tensor


def wide_type(values: Tensor) -> torch.dtype:
    """The type to add up in: squares leave the range of 16 bits."""
    return torch.promote_types(values.dtype, torch.float32)


def product_type(values: Tensor) -> torch.dtype:
    """The type to multiply in: the one that autocast asks for."""
    device = values.device.type
    if torch.is_autocast_enabled(device) and values.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return values.dtype

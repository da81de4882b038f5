"""Reductions that ignore padding; the only file that knows about minus infinity.

A slice with nothing in it gives 0 everywhere, never NaN.
"""

import torch
from torch import Tensor


def masked_softmax(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over the real entries; exactly 0 at padding."""
    weights = torch.softmax(values.masked_fill(~mask, torch.finfo(values.dtype).min), dim=dim)
    return weights.masked_fill(~mask, 0.0)


def masked_max(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Largest real entry."""
    largest = values.masked_fill(~mask, -torch.inf).amax(dim=dim)
    return torch.where(mask.any(dim=dim), largest, torch.zeros_like(largest))


def masked_mean(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Mean of the real entries."""
    total = values.masked_fill(~mask, 0.0).sum(dim=dim)
    return total / mask.sum(dim=dim).clamp_min(1)


def masked_best(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Largest real entry of every row, and its place; -1 where a row has none."""
    largest, places = values.masked_fill(~mask, -torch.inf).max(dim=-1)
    found = mask.any(dim=-1)
    return torch.where(found, largest, 0.0), torch.where(found, places, -1)

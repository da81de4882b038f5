"""Reductions that ignore padding; the only file that knows about minus infinity.

A slice with nothing in it gives 0 everywhere, never NaN.
"""

import torch
from torch import Tensor


def masked_softmax(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over the real entries; exactly 0 at padding."""
    return _softmax(values, mask, dim).masked_fill(~mask, 0.0)


def attend(vectors: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """Means of the vectors (batch, n, dim), weighted by the softmax of scores (batch, m, n).

    Padding is 0 among the vectors, so that the mean of nothing is 0 whatever its weights.
    """
    return _softmax(scores, mask, dim=-1).to(vectors.dtype) @ vectors


def _softmax(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Exactly 0 at padding, but equal weights where there is nothing else."""
    return torch.softmax(values.masked_fill(~mask, torch.finfo(values.dtype).min), dim=dim)


def masked_max(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Largest real entry."""
    largest = values.masked_fill(~mask, -torch.inf).amax(dim=dim)
    return torch.where(mask.any(dim=dim), largest, torch.zeros_like(largest))


def masked_mean(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Mean of the real entries."""
    total = values.masked_fill(~mask, 0.0).sum(dim=dim)
    return total / mask.sum(dim=dim).clamp_min(1)

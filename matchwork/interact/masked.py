"""Reductions that ignore padding; over no values at all they give 0, never NaN.

Masks are bool with the shape of the values, True at real entries.
"""

import torch
from torch import Tensor


def masked_softmax(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Return the softmax over real entries; exactly 0 at padding."""
    return _softmax(values, mask, dim).masked_fill(~mask, 0.0)


def attend(vectors: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """Return means of the vectors, weighted by the softmax of the scores, (batch, m, dim).

    Vectors have shape (batch, n, dim) and are 0 at padding, scores (batch, m, n), the mask of
    real vectors (batch, m or 1, n).
    """
    return _softmax(scores, mask, dim=-1).to(vectors.dtype) @ vectors


def _softmax(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Exactly 0 at padding; equal weights where everything is padding."""
    return torch.softmax(values.masked_fill(~mask, torch.finfo(values.dtype).min), dim=dim)


def masked_max(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Return the maximum over real entries."""
    largest = values.masked_fill(~mask, -torch.inf).amax(dim=dim)
    return torch.where(mask.any(dim=dim), largest, torch.zeros_like(largest))


def masked_mean(values: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Return the mean over real entries."""
    total = values.masked_fill(~mask, 0.0).sum(dim=dim)
    return total / mask.sum(dim=dim).clamp_min(1)

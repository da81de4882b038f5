"""How alike two words are."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.encode import Encoded
from matchwork.interact.interaction import Interaction

EPSILON = 1e-8
TINY = 1e-24  # under a division: no value that matters is moved by it


def row_lengths(vectors: Tensor) -> Tensor:
    """Euclidean length of every vector; the gradient at a zero vector is zero."""
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1, dtype=wide_type(vectors))
    return lengths


def wide_type(values: Tensor) -> torch.dtype:
    """The type to add up in: squares leave the range of 16 bits."""
    return torch.promote_types(values.dtype, torch.float32)


def cosine_table(left: Tensor, right: Tensor) -> Tensor:
    """`x.y / max(|x||y|, 1e-8)` for all rows x of `left`, y of `right`: a zero row gives 0."""
    table: Tensor = _CosineTable.apply(left, right)  # type: ignore[no-untyped-call]
    return table


class _CosineTable(torch.autograd.Function):
    """Divides the small table instead of the long texts, in the backward pass too.

    Written by hand because autograd sends several copies of every text through memory, which
    takes longer than the products.
    """

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        lengths = row_lengths(left).unsqueeze(-1), row_lengths(right).unsqueeze(-2)
        scale = lengths[0] * lengths[1]
        table = (left @ right.transpose(-1, -2)) / scale.clamp_min(EPSILON)
        ctx.save_for_backward(left, right, *lengths, table)
        return table

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        left, right, left_lengths, right_lengths, table = ctx.saved_tensors
        gradient = gradients[0].to(table.dtype)
        scale = left_lengths * right_lengths
        # d table = d(x.y) / scale - table * d(scale) / scale; a clamped scale does not move.
        through_dots = gradient / scale.clamp_min(EPSILON)
        through_lengths = -(gradient * table).masked_fill(scale < EPSILON, 0.0)
        left_gradient = right_gradient = None
        if ctx.needs_input_grad[0]:
            shrink = through_lengths.sum(-1, keepdim=True) / left_lengths.square().clamp_min(TINY)
            left_gradient = _accumulate(left, shrink, through_dots, right)
        if ctx.needs_input_grad[1]:
            shrink = through_lengths.sum(-2, keepdim=True) / right_lengths.square().clamp_min(TINY)
            right_gradient = _accumulate(
                right, shrink.transpose(-1, -2), through_dots.transpose(-1, -2), left
            )
        return left_gradient, right_gradient


def _accumulate(rows: Tensor, factors: Tensor, weights: Tensor, others: Tensor) -> Tensor:
    """`factors * rows + weights @ others`, adding up in place."""
    total = (rows * factors).to(weights.dtype)
    if total.ndim == 3:
        total = total.baddbmm_(weights, others.to(weights.dtype))
    else:
        total = total + weights @ others.to(weights.dtype)
    return total.to(rows.dtype)


def cosine(query: Encoded, document: Encoded) -> Interaction:
    """Cosine similarity of every query word with every document word; 0 at padding."""
    mask = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
    return Interaction(cosine_table(query.vectors, document.vectors), mask)

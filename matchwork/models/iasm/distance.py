"""How far two matrices of word vectors are from each other, whatever their size."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.interact.similarity import EPSILON, row_lengths

Norm = Literal["matrix", "row"]


def matrix_distance(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """Frobenius distance after normalisation, shape (batch,).

    "matrix" scales each matrix to unit Frobenius norm, so that the distance lies in [0, 2];
    "row" every row to unit length, so that it grows with the number of rows.
    """
    if norm == "row":
        return row_lengths((_unit_rows(left) - _unit_rows(right)).flatten(1))
    distance: Tensor = _UnitDistance.apply(left, right)  # type: ignore[no-untyped-call]
    return distance


def row_distances(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """The square of each row's part in `matrix_distance`, shape (batch, rows)."""
    return (_UNIT[norm](left) - _UNIT[norm](right)).square().sum(-1)


def row_agreements(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """The dot product of each row with its counterpart after normalisation, (batch, rows).

    They add up to the cosine of the two matrices, which is 1 - distance^2 / 2 ("matrix").
    """
    return (_UNIT[norm](left) * _UNIT[norm](right)).sum(-1)


def _unit_rows(rows: Tensor) -> Tensor:
    return rows / row_lengths(rows).clamp_min(EPSILON).unsqueeze(-1)


def _unit_matrix(rows: Tensor) -> Tensor:
    return rows / row_lengths(rows.flatten(1)).clamp_min(EPSILON)[:, None, None]


_UNIT: dict[Norm, Callable[[Tensor], Tensor]] = {"row": _unit_rows, "matrix": _unit_matrix}


class _UnitDistance(torch.autograd.Function):
    """Written by hand: autograd would send each matrix through memory a dozen times."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        lengths = [row_lengths(side.flatten(1)).clamp_min(EPSILON) for side in (left, right)]
        # Divided alike, so that equal matrices leave nothing.
        difference = left / lengths[0][:, None, None]
        difference = difference.addcdiv_(right, lengths[1][:, None, None], value=-1)
        distance = row_lengths(difference.flatten(1))
        ctx.save_for_backward(left, right, *lengths, distance)
        return distance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """With unit matrices u and v: `distance^2 = 2 - 2 u.v`, and v moves only across itself.

        Hence d distance = -(u - (u.v) v) . d right / (distance |right|): a mixture of both
        matrices, which needs no difference of theirs. Equal matrices pull nowhere, and a zero
        matrix, which has no direction, neither pulls nor is pulled.
        """
        left, right, left_length, right_length, distance = ctx.saved_tensors
        still = (distance == 0) | (left_length <= EPSILON) | (right_length <= EPSILON)
        outer = (-gradients[0] / distance).masked_fill(still, 0.0)
        cosine = 1 - distance.square() / 2
        wanted = ctx.needs_input_grad
        return (
            _mixture(right, left, right_length, left_length, cosine, outer) if wanted[0] else None,
            _mixture(left, right, left_length, right_length, cosine, outer) if wanted[1] else None,
        )


def _mixture(
    others: Tensor, rows: Tensor, other: Tensor, own: Tensor, cosine: Tensor, outer: Tensor
) -> Tensor:
    """`outer / own * (others / other - cosine * rows / own)`, as the type of `rows`."""
    across = (outer / own / other)[:, None, None]
    along = (-outer / own / own * cosine)[:, None, None]
    return (others * across).addcmul_(rows, along).to(rows.dtype)

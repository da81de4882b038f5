"""Distances between two matrices of word vectors."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.interact.similarity import EPSILON, row_lengths, unit_rows
from matchwork.kernels import kernel

Norm = Literal["matrix", "row"]


def matrix_distance(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """Return the Frobenius distance of matrices (batch, rows, dim) after normalisation, (batch,).

    `norm` "matrix" scales each matrix to unit Frobenius norm: distances are in [0, 2]. "row"
    scales every row to unit length: distances grow with the number of rows.
    """
    if norm == "row":
        return row_lengths((unit_rows(left) - unit_rows(right)).flatten(1))
    return _matrix_distance(left, right)


def row_distances(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """Return the squared distance of each row in `matrix_distance`, shape (batch, rows)."""
    return (_UNIT[norm](left) - _UNIT[norm](right)).square().sum(-1)


def row_agreements(left: Tensor, right: Tensor, norm: Norm = "matrix") -> Tensor:
    """Return dot products of corresponding rows after normalisation, shape (batch, rows).

    With "matrix" they add up to the cosine of the matrices, 1 - distance^2 / 2.
    """
    return (_UNIT[norm](left) * _UNIT[norm](right)).sum(-1)


def _unit_matrix(rows: Tensor) -> Tensor:
    return rows / row_lengths(rows.flatten(1)).clamp_min(EPSILON)[:, None, None]


_UNIT: dict[Norm, Callable[[Tensor], Tensor]] = {"row": unit_rows, "matrix": _unit_matrix}


def _plain_distance(left: Tensor, right: Tensor) -> Tensor:
    units = []
    for side in (left, right):
        empty = row_lengths(side.flatten(1)) <= EPSILON
        units.append(_unit_matrix(side.masked_fill(empty[:, None, None], 0.0)))
    return row_lengths((units[0] - units[1]).flatten(1))


@kernel("matrix-distance", plain=_plain_distance)
def _matrix_distance(left: Tensor, right: Tensor) -> Tensor:
    distance: Tensor = _UnitDistance.apply(left, right)  # type: ignore[no-untyped-call]
    return distance


class _UnitDistance(torch.autograd.Function):
    """Differentiated by hand: autograd would copy each matrix a dozen times."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor) -> Tensor:
        lengths = [row_lengths(side.flatten(1)).clamp_min(EPSILON) for side in (left, right)]
        # Both are divided in the same way, so that equal matrices have distance 0.
        difference = left / lengths[0][:, None, None]
        difference = difference.addcdiv_(right, lengths[1][:, None, None], value=-1)
        distance = row_lengths(difference.flatten(1))
        ctx.save_for_backward(left, right, *lengths, distance)
        return distance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Use `distance^2 = 2 - 2 u.v` for the unit matrices u and v.

        Hence d distance = -(u - (u.v) v) . d right / (distance |right|), a linear combination of
        both matrices. The gradient is 0 for equal matrices and for zero matrices.
        """
        left, right, left_length, right_length, distance = ctx.saved_tensors
        flat = (distance == 0) | (left_length <= EPSILON) | (right_length <= EPSILON)
        outer = (-gradients[0] / distance).masked_fill(flat, 0.0)
        cosine = 1 - distance.square() / 2

        def mixture(rows: Tensor, own: Tensor, others: Tensor, other: Tensor) -> Tensor:
            """Return `outer / own * (others / other - cosine * rows / own)`."""
            across: Tensor = (outer / own / other)[:, None, None]
            along = (-outer / own / own * cosine)[:, None, None]
            return (others * across).addcmul_(rows, along).to(rows.dtype)

        wanted = ctx.needs_input_grad
        return (
            mixture(left, left_length, right, right_length) if wanted[0] else None,
            mixture(right, right_length, left, left_length) if wanted[1] else None,
        )

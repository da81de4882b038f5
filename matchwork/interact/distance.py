"""How far two matrices of word vectors are from each other, whatever their size."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.interact.similarity import EPSILON, TINY, row_lengths

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
        ctx.save_for_backward(left, right, *lengths, difference, distance)
        return distance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        left, right, *lengths, difference, distance = ctx.saved_tensors
        outer = gradients[0] / distance.clamp_min(TINY**0.5)  # equal matrices: difference is 0
        found: list[Tensor | None] = []
        for needed, rows, length, sign in zip(
            ctx.needs_input_grad, (left, right), lengths, (1.0, -1.0), strict=True
        ):
            found.append(_through_unit(rows, length, difference, sign * outer) if needed else None)
        return found[0], found[1]


def _through_unit(rows: Tensor, length: Tensor, difference: Tensor, outer: Tensor) -> Tensor:
    """Gradient of `outer * difference . (rows / length)` where `length` is that of `rows`.

    A zero matrix gets none: it has no direction.
    """
    along = torch.linalg.vecdot(difference.flatten(1), rows.flatten(1).to(difference.dtype))
    direct = (outer / length).masked_fill(length <= EPSILON, 0.0)
    inward = -direct * along / length.square()
    gradient = (difference * direct[:, None, None]).addcmul_(rows, inward[:, None, None])
    return gradient.to(rows.dtype)

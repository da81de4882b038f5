"""The real part of each padded grid: an upper left rectangle."""

from typing import Any

import torch
from torch import Tensor


def rectangle_mask(lengths: Tensor, rows: int, columns: int) -> Tensor:
    """Return a mask that is True inside each item's rectangle, shape (batch, rows, columns)."""
    inside_rows = torch.arange(rows, device=lengths.device) < lengths[:, :1]
    inside_columns = torch.arange(columns, device=lengths.device) < lengths[:, 1:]
    return inside_rows[:, :, None] & inside_columns[:, None, :]


def flip_rectangle(inputs: Tensor, lengths: Tensor) -> Tensor:
    """Reverse both axes, 1 and 2, inside each item's rectangle; padding stays. Its own inverse."""
    rows, columns = inputs.shape[1:3]
    own = torch.arange(rows * columns, device=lengths.device).view(rows, columns)
    height, width = lengths[:, 0].clamp_max(rows), lengths[:, 1].clamp_max(columns)
    corner = (height - 1) * columns + width - 1
    mirrored = corner[:, None, None] - own
    inside = rectangle_mask(lengths, rows, columns)
    item = torch.arange(len(inputs), device=lengths.device)[:, None, None] * (rows * columns)
    cells = item + torch.where(inside, mirrored, own)
    flipped: Tensor = _Rearrange.apply(inputs, cells.flatten())  # type: ignore[no-untyped-call]
    return flipped


def scan_inputs(inputs: Tensor, lengths: Tensor, directions: int) -> Tensor:
    """Return the inputs of each direction, shape (directions, batch, rows, columns, channels)."""
    if directions == 1:
        return inputs.unsqueeze(0)
    return torch.stack([inputs, flip_rectangle(inputs, lengths)])


def corner_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Return the last real states, shape (batch, directions * units); 0 for an empty text."""
    directions, batch, rows, columns, units = states.shape
    if rows == 0 or columns == 0:
        return states.sum((2, 3)).transpose(0, 1).reshape(batch, directions * units)
    # The cell chosen for an empty text lies outside its rectangle, where states are zero.
    row, column = (lengths.to(states.device, torch.int64) - 1).unbind(-1)
    cell = row.clamp(0, rows - 1) * columns + column.clamp(0, columns - 1)
    first = torch.arange(0, batch * rows * columns, rows * columns, device=states.device)
    corners = states.flatten(1, 3).index_select(1, first + cell)
    return corners.transpose(0, 1).reshape(batch, directions * units)


class _Rearrange(torch.autograd.Function):
    """Permute cells by an involution, so that the gradient is the same cheap gather."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(cells)
        return inputs.flatten(0, 2).index_select(0, cells).view(inputs.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,) = ctx.saved_tensors
        gradient: Tensor = _Rearrange.apply(gradients[0], cells)  # type: ignore[no-untyped-call]
        return gradient, None

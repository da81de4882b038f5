"""The plain version: the equations of a cell, and nested loops over the cells; autograd."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from matchwork.kernels.spatial_gru.rectangles import rectangle_mask, scan_inputs
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights


class Gates(NamedTuple):
    """Gates and candidates of cells; `...` are the axes of the cells: (batch, rows, columns)."""

    z: Tensor  # (4, directions, ..., g): input, left, top, diagonal; they sum to 1
    r: Tensor | None  # (3, directions, ..., g): left, top, diagonal; None without reset gates
    candidate: Tensor  # (directions, ..., units): the new content h', weighted by gate `input`


class Neighbours(NamedTuple):
    """The three states a cell reads, each (directions, ..., units)."""

    left: Tensor
    top: Tensor
    diagonal: Tensor


def cell_gates(
    inputs: Tensor, neighbours: Neighbours, weights: SpatialWeights, activation: Activation
) -> Gates:
    """Compute eq. 3 up to the candidate; `inputs` has shape (directions, ..., channels)."""
    left, top, diagonal = neighbours
    q = torch.cat([top, left, diagonal, inputs], dim=-1)
    z = torch.softmax(_gate_logits(weights.gate, weights.gate_bias, q), dim=0)
    r = None
    if weights.reset is not None and weights.reset_bias is not None:
        r = torch.sigmoid(_gate_logits(weights.reset, weights.reset_bias, q))
        left, top, diagonal = r[0] * left, r[1] * top, r[2] * diagonal
    memory = torch.cat([left, top, diagonal], dim=-1)
    candidate = torch.einsum("duc,d...c->d...u", weights.input, inputs)
    candidate = candidate + torch.einsum("duv,d...v->d...u", weights.state, memory)
    candidate = candidate + _beside_cells(weights.bias, candidate.ndim)
    return Gates(z, r, torch.tanh(candidate) if activation == "tanh" else candidate)


def spatial_gates(
    inputs: Tensor,
    lengths: Tensor,
    weights: SpatialWeights,
    states: Tensor,
    *,
    activation: Activation = "tanh",
) -> Gates:
    """Return the gates and candidates of `states`, in each scan's coordinates; 0 at padding."""
    wide = torch.promote_types(inputs.dtype, torch.float32)
    scans = scan_inputs(inputs, lengths, weights.directions).to(wide)
    outside = ~rectangle_mask(lengths, *inputs.shape[1:3]).unsqueeze(-1)
    near = neighbours_of(states.to(wide))
    gates = cell_gates(scans.masked_fill(outside, 0.0), near, weights.to(wide), activation)
    return Gates._make(
        None if part is None else part.masked_fill(outside, 0.0).to(inputs.dtype) for part in gates
    )


def neighbours_of(states: Tensor) -> Neighbours:
    """Return the neighbours of all cells; zeros at the border."""
    bordered = functional.pad(states, (0, 0, 1, 0, 1, 0))
    left, top = bordered[:, :, 1:, :-1], bordered[:, :, :-1, 1:]
    return Neighbours(left, top, bordered[:, :, :-1, :-1])


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """Return the states of all cells; see `engines.Engine.scan`."""
    directions, batch, rows, columns, _ = scans.shape
    border = scans.new_zeros(directions, batch, weights.units)
    inside = rectangle_mask(lengths, rows, columns)
    scans = scans.masked_fill(~inside[..., None], 0.0)
    above = [border] * (columns + 1)
    table = []
    for i in range(rows):
        row = [border]
        for j in range(columns):
            near = Neighbours(left=row[j], top=above[j + 1], diagonal=above[j])
            gates = cell_gates(scans[:, :, i, j], near, weights, activation)
            z_input, z_left, z_top, z_diagonal = gates.z.unbind()
            state = z_left * near.left + z_top * near.top + z_diagonal * near.diagonal
            state = state + z_input * gates.candidate
            row.append(state.masked_fill(~inside[:, i, j, None], 0.0))
        table.append(torch.stack(row[1:], dim=2))
        above = row
    return torch.stack(table, dim=2)


def _gate_logits(weights: Tensor, bias: Tensor, q: Tensor) -> Tensor:
    logits = torch.einsum("dkgq,d...q->kd...g", weights, q)
    return logits + _beside_cells(bias.transpose(0, 1), logits.ndim)


def _beside_cells(bias: Tensor, ndim: int) -> Tensor:
    """Insert axes of size 1 for the cells before the last axis of `bias`, (..., directions, g)."""
    cells = (1,) * (ndim - bias.ndim)
    return bias.view(*bias.shape[:-1], *cells, bias.shape[-1])

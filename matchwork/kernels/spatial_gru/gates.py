"""The equations of one cell, for a single cell or for all of them at once."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from matchwork.kernels.spatial_gru.rectangles import rectangle_mask, scan_inputs
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights


class Gates(NamedTuple):
    """Gates and candidates of cells; `...` are the axes of the cells: (batch, rows, columns)."""

    z: Tensor
    """(4, directions, ..., g): input, left, top, diagonal; they sum to 1."""
    r: Tensor | None
    """(3, directions, ..., g): left, top, diagonal; None without reset gates."""
    candidate: Tensor
    """(directions, ..., units): the new content h', weighted by gate `input`."""


class Neighbours(NamedTuple):
    """The three states a cell reads, each (directions, ..., units)."""

    left: Tensor
    top: Tensor
    diagonal: Tensor


def cell_gates(
    inputs: Tensor, neighbours: Neighbours, weights: SpatialWeights, activation: Activation
) -> Gates:
    """Compute eq. 3 up to the candidate.

    Args:
        inputs: Shape (directions, ..., channels).
        neighbours: The states of the three neighbours.
        weights: All weights.
        activation: Of the candidate.
    """
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


def next_state(gates: Gates, neighbours: Neighbours) -> Tensor:
    """Compute the last line of eq. 3: mix the candidate and the neighbours' states."""
    z_input, z_left, z_top, z_diagonal = gates.z.unbind()
    left, top, diagonal = neighbours
    return z_left * left + z_top * top + z_diagonal * diagonal + z_input * gates.candidate


def spatial_gates(
    inputs: Tensor,
    lengths: Tensor,
    weights: SpatialWeights,
    states: Tensor,
    *,
    activation: Activation = "tanh",
) -> Gates:
    """Compute the gates and candidates of all cells from their states.

    Like the states they are in the coordinates of each direction's own scan, and zero outside
    the real rectangle.

    Args:
        inputs: Shape (batch, rows, columns, channels).
        lengths: Number of real rows and columns, shape (batch, 2).
        weights: All weights.
        states: The result of `spatial_gru`.
        activation: Of the candidate.
    """
    wide = torch.promote_types(inputs.dtype, torch.float32)
    scans = scan_inputs(inputs, lengths, weights.directions).to(wide)
    bordered = functional.pad(states.to(wide), (0, 0, 1, 0, 1, 0))
    neighbours = Neighbours(
        left=bordered[:, :, 1:, :-1], top=bordered[:, :, :-1, 1:], diagonal=bordered[:, :, :-1, :-1]
    )
    outside = ~rectangle_mask(lengths, *inputs.shape[1:3]).unsqueeze(-1)
    gates = cell_gates(scans.masked_fill(outside, 0.0), neighbours, weights.to(wide), activation)
    z, r, candidate = (
        None if part is None else part.masked_fill(outside, 0.0).to(inputs.dtype) for part in gates
    )
    assert z is not None and candidate is not None
    return Gates(z, r, candidate)


def _gate_logits(weights: Tensor, bias: Tensor, q: Tensor) -> Tensor:
    logits = torch.einsum("dkgq,d...q->kd...g", weights, q)
    return logits + _beside_cells(bias.transpose(0, 1), logits.ndim)


def _beside_cells(bias: Tensor, ndim: int) -> Tensor:
    """Insert axes of size 1 for the cells before the last axis of `bias`, (..., directions, g)."""
    cells = (1,) * (ndim - bias.ndim)
    return bias.view(*bias.shape[:-1], *cells, bias.shape[-1])

"""The plain version: nested loops over the cells; autograd gives the gradients."""

import torch
from torch import Tensor

from matchwork.kernels.spatial_gru.gates import Neighbours, cell_gates
from matchwork.kernels.spatial_gru.rectangles import rectangle_mask
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights


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

"""The plain version: nested loops over the cells; autograd gives the gradients."""

import torch
from torch import Tensor

from matchwork.kernels.spatial_gru.gates import Neighbours, cell_gates, next_state
from matchwork.kernels.spatial_gru.rectangles import rectangle_mask
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights


def supports(device_type: str, dtype: torch.dtype) -> str | None:
    """Return None: loops run everywhere."""
    return None


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """Return the states of all cells; see `engines.EngineModule.scan`."""
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
            row.append(next_state(gates, near).masked_fill(~inside[:, i, j, None], 0.0))
        table.append(torch.stack(row[1:], dim=2))
        above = row
    return torch.stack(table, dim=2)

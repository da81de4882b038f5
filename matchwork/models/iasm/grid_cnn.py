"""A small convolutional network that reads a word-by-word table as a picture."""

import torch
from torch import Tensor, nn

from matchwork.interact.precision import ScoreLayer

CHANNELS = (16, 32)
POOLED = (4, 8)  # rows x columns, whatever the lengths of the texts
HIDDEN = 64


class GridCNN(nn.Module):
    """Two 3x3 convolutions, pooling to a grid of fixed size, two linear layers, one number.

    Padding is invisible: cells outside a pair's own rectangle are zero before every
    convolution, and pooling divides that rectangle, not the padded one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, CHANNELS[0], 3, padding=1)
        self.second = nn.Conv2d(CHANNELS[0], CHANNELS[1], 3, padding=1)
        self.hidden = nn.Linear(CHANNELS[1] * POOLED[0] * POOLED[1], HIDDEN)
        self.output = ScoreLayer(HIDDEN, 1)

    def forward(self, table: Tensor, mask: Tensor) -> Tensor:
        """(batch, query, document) to (batch,)."""
        cells = mask.unsqueeze(1)
        grid = table.masked_fill(~mask, 0.0).unsqueeze(1)
        for convolution in (self.first, self.second):
            grid = torch.relu(convolution(grid)) * cells
        grid = adaptive_max(grid, mask.any(-1).sum(-1), POOLED[0], dim=2)
        grid = adaptive_max(grid, mask.any(-2).sum(-1), POOLED[1], dim=3)
        hidden = torch.relu(self.hidden(grid.flatten(1)))
        found: Tensor = self.output(hidden).squeeze(-1)
        return found


def adaptive_max(values: Tensor, lengths: Tensor, num_bins: int, dim: int) -> Tensor:
    """Largest value of each of `num_bins` equal parts of the first `lengths[b]` entries.

    Part i of length l is [floor(i l / bins), ceil((i + 1) l / bins)), as in torch's adaptive
    pooling, which has one length for the whole batch. `values` are 0 where a text is empty.
    """
    bins = torch.arange(num_bins, device=values.device)
    starts = lengths[:, None] * bins // num_bins
    ends = (lengths[:, None] * (bins + 1) + num_bins - 1) // num_bins
    width = values.shape[dim] // num_bins + 2  # no part is wider
    offsets = torch.arange(width, device=values.device)
    # Past the end of a part its last entry is read again, which no maximum minds.
    index = torch.minimum(starts[..., None] + offsets, ends[..., None] - 1).clamp_min(0)
    shape = [1] * values.ndim
    shape[0], shape[dim] = len(values), num_bins * width
    target = list(values.shape)
    target[dim] = num_bins * width
    gathered = values.gather(dim, index.view(shape).expand(target))
    parts = [*values.shape[:dim], num_bins, width, *values.shape[dim + 1 :]]
    return gathered.view(parts).amax(dim + 1)

"""A small convolutional network over a table of words by words."""

import torch
from torch import Tensor, nn

from matchwork.interact.similarity import ScoreLayer

CHANNELS = (16, 32)
POOLED = (4, 8)  # rows x columns, for texts of any length
HIDDEN = 64


class GridCNN(nn.Module):
    """Two 3x3 convolutions, pooling to a grid of fixed size, two linear layers.

    Padding has no effect: it is set to 0 before every convolution, and pooling divides each
    pair's own rectangle.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, CHANNELS[0], 3, padding=1)
        self.second = nn.Conv2d(CHANNELS[0], CHANNELS[1], 3, padding=1)
        self.hidden = nn.Linear(CHANNELS[1] * POOLED[0] * POOLED[1], HIDDEN)
        self.output = ScoreLayer(HIDDEN, 1)

    def forward(self, table: Tensor, mask: Tensor) -> Tensor:
        """Map a table and its mask, both (batch, query, document), to (batch,)."""
        cells = mask.unsqueeze(1)
        grid = table.masked_fill(~mask, 0.0).unsqueeze(1)
        for convolution in (self.first, self.second):
            grid = torch.relu(convolution(grid)) * cells
        grid = adaptive_max(grid, mask.any(-1).sum(-1), POOLED[0], dim=2)
        grid = adaptive_max(grid, mask.any(-2).sum(-1), POOLED[1], dim=3)
        hidden = torch.relu(self.hidden(grid.flatten(1)))
        scores: Tensor = self.output(hidden).squeeze(-1)
        return scores


def adaptive_max(values: Tensor, lengths: Tensor, num_bins: int, dim: int) -> Tensor:
    """Return the maximum of each of `num_bins` parts of the first `lengths[b]` entries of `dim`.

    Like torch's adaptive pooling, but each row b of the batch has its own length. Part i of
    length l is [floor(i l / bins), ceil((i + 1) l / bins)).
    """
    bins = torch.arange(num_bins, device=values.device)
    starts = lengths[:, None] * bins // num_bins
    ends = (lengths[:, None] * (bins + 1) + num_bins - 1) // num_bins
    width = values.shape[dim] // num_bins + 2  # no part is wider
    offsets = torch.arange(width, device=values.device)
    # Past the end of a part its last entry is repeated, which leaves the maximum as it is.
    index = torch.minimum(starts[..., None] + offsets, ends[..., None] - 1).clamp_min(0).flatten(1)
    rows = values.movedim(dim, -1)
    index = index.view(len(rows), *[1] * (rows.ndim - 2), -1).expand(*rows.shape[:-1], -1)
    parts = rows.gather(-1, index).view(*rows.shape[:-1], num_bins, width)
    return parts.amax(-1).movedim(-1, dim)

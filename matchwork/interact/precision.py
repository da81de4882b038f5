"""Precision under autocast: the types to multiply and to add up in, and the last layer."""

import torch
from torch import Tensor, nn


def wide_type(values: Tensor) -> torch.dtype:
    """Return the dtype to sum in, at least 32 bits: squares overflow 16."""
    return torch.promote_types(values.dtype, torch.float32)


def product_type(values: Tensor) -> torch.dtype:
    """Return the dtype to multiply in: that of autocast where it is on."""
    device = values.device.type
    if torch.is_autocast_enabled(device) and values.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return values.dtype


class ScoreLayer(nn.Linear):
    """A linear layer that computes in the dtype of its weights, even under autocast.

    In 16 bits nearly equal scores would become ties, and rankings arbitrary.
    """

    def forward(self, values: Tensor) -> Tensor:
        """Map (..., in_features) to (..., out_features)."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))

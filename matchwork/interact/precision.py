"""Precision under autocast: the types to multiply and to add up in, and the last layer."""

import torch
from torch import Tensor, nn


def wide_type(values: Tensor) -> torch.dtype:
    """The type to add up in: squares leave the range of 16 bits."""
    return torch.promote_types(values.dtype, torch.float32)


def product_type(values: Tensor) -> torch.dtype:
    """The type to multiply in: the one that autocast asks for."""
    device = values.device.type
    if torch.is_autocast_enabled(device) and values.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return values.dtype


class ScoreLayer(nn.Linear):
    """A linear layer that multiplies in the type of its weights, whatever autocast asks for.

    In 16 bits scores that are nearly equal would become ties, and a ranking a matter of chance.
    """

    def forward(self, values: Tensor) -> Tensor:
        """As any linear layer."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))

"""The last layer of a model, whose outputs are scores or classes."""

import torch
from torch import Tensor, nn


class ScoreLayer(nn.Linear):
    """A linear layer that multiplies in the type of its weights, whatever autocast asks for.

    In 16 bits scores that are nearly equal would become ties, and a ranking a matter of chance.
    """

    def forward(self, values: Tensor) -> Tensor:
        """As any linear layer."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))

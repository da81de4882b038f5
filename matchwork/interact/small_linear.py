"""The start that transformers give their layers."""

from torch import nn

SPREAD = 0.02


def small_linear(inputs: int, outputs: int, bias: float = 0.0) -> nn.Linear:
    """A linear layer with weights from normal(0, 0.02) and equal biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=SPREAD)
    nn.init.constant_(layer.bias, bias)
    return layer

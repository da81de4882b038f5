"""Hashing auto-encoder: token vectors to binary codes and back."""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.kernels.linear import linear

Reduction = Literal["sum", "mean"]
SPREAD = 0.02  # of initial weights, as in transformers


class Hashed:
    """Codes of token vectors; restored vectors and errors are computed when read.

    Attributes:
        soft: Differentiable codes between -1 and 1, shape (batch, tokens, bits).
        hard: Their signs, same shape; NaN stays NaN.
    """

    def __init__(
        self, of: "HashingDenoiser", vectors: Tensor, mask: Tensor, signal: Tensor
    ) -> None:
        self.soft = torch.tanh(of.alpha * signal)
        signs = torch.where(signal >= 0, 1.0, -1.0).to(signal.dtype)
        self.hard = torch.where(signal.isnan(), signal.detach(), signs)
        self._of, self._vectors, self._mask = of, vectors, mask
        self._learning = torch.is_grad_enabled()

    @property
    def restored(self) -> Tensor:
        """Vectors decoded from the soft codes, shape (batch, tokens, dim)."""
        learning = self._learning and torch.is_grad_enabled()
        with torch.set_grad_enabled(learning), torch.autocast(self.soft.device.type, enabled=False):
            return self._of.decode(self.soft)

    @property
    def code_error(self) -> Tensor:
        """Squared distance of soft from hard codes, shape (batch,)."""
        return self._error(self.soft - self.hard)

    @property
    def restored_error(self) -> Tensor:
        """Squared distance of restored from original vectors, shape (batch,)."""
        return self._error(self.restored - self._vectors)

    def _error(self, difference: Tensor) -> Tensor:
        """Sum or average the squares over the real tokens of every text."""
        shares, average = self._mask.to(self.soft.dtype), self._of.reduction == "mean"
        if average:
            shares = shares / shares.sum(dim=-1, keepdim=True).clamp_min_(1)
        with torch.autocast(difference.device.type, enabled=False):
            errors = (shares.unsqueeze(-2) @ difference.square()).squeeze(-2)
        return errors.mean(dim=-1) if average else errors.sum(dim=-1)


class HashingDenoiser(nn.Module):
    """Three layers to codes of `bits` and three back, in float32 or wider: signs flip at zero.

    `alpha` is the steepness of the tanh that stands in for the sign; with `tied`, the decoder has
    the encoder's weights, transposed; `reduction` of errors is over tokens and values.
    """

    def __init__(self, dim: int, bits: int, alpha: float, tied: bool, reduction: Reduction) -> None:
        super().__init__()
        self.alpha, self.reduction = alpha, reduction
        widths = [dim, dim // 2, dim // 2, bits]
        layers = list(pairwise(widths))
        self.encoder = nn.ModuleList(SmallLinear(wide, narrow) for wide, narrow in layers)
        self.biases = nn.ParameterList(torch.zeros(wide) for wide, _ in reversed(layers))
        if not tied:
            self.weights = nn.ParameterList(
                SPREAD * torch.randn(wide, narrow) for wide, narrow in reversed(layers)
            )

    @torch.no_grad()
    def start_linear(self) -> Tensor:
        """Start as the signs of an orthogonal projection; return its matrix, shape (bits, dim).

        A bias of 1 keeps the input of the ReLU in the middle positive.
        """
        first, middle, last = (layer.get_parameter("weight") for layer in self.encoder)
        for weight in (first, last):
            nn.init.orthogonal_(weight)
        nn.init.eye_(middle)
        _, added, taken = (layer.get_parameter("bias") for layer in self.encoder)
        nn.init.ones_(added)
        taken.copy_(-last.sum(dim=1))
        nn.init.ones_(self.biases[1])
        self.biases[2].copy_(-first.sum(dim=0))
        if hasattr(self, "weights"):
            for weight, tied in zip(self.weights, (last, middle, first), strict=True):
                weight.copy_(tied.mT)
        return last @ first

    def forward(self, vectors: Tensor, mask: Tensor) -> Hashed:
        """Encode vectors, shape (batch, tokens, dim); padding is left out of the errors."""
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
            return Hashed(self, vectors, mask, self.encode(vectors))

    def encode(self, vectors: Tensor) -> Tensor:
        """Return values in (-1, 1), whose signs are the code."""
        first, second, third = self.encoder
        return torch.tanh(third(torch.relu(second(torch.tanh(first(vectors))))))

    def decode(self, codes: Tensor) -> Tensor:
        """Return vectors from codes; the last layer is linear because vectors are unbounded."""
        first, second, third = zip(self._decoder_weights(), self.biases, strict=True)
        hidden = torch.tanh(functional.linear(codes, *first))
        return functional.linear(torch.relu(functional.linear(hidden, *second)), *third)

    def _decoder_weights(self) -> list[Tensor]:
        if hasattr(self, "weights"):
            return list(self.weights)
        first, second, third = (layer.get_parameter("weight").mT for layer in self.encoder)
        return [third, second, first]


class SmallLinear(nn.Linear):
    """A linear layer with weights from normal(0, 0.02) and equal biases."""

    def __init__(self, inputs: int, outputs: int, bias: float = 0.0) -> None:
        super().__init__(inputs, outputs)
        nn.init.normal_(self.weight, std=SPREAD)
        nn.init.constant_(self.bias, bias)

    def forward(self, values: Tensor) -> Tensor:
        """Apply the layer; faster without gradients."""
        return linear(values, self.weight, self.bias)

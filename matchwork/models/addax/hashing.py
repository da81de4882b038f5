"""Hashing auto-encoder: token vectors through a bottle-neck of bits, and back."""

from functools import cached_property
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.models.addax.small_linear import SPREAD, SmallLinear

Reduction = Literal["sum", "mean"]


class Hashed:
    """Codes (batch, tokens, bits) of vectors; what is read back from them, where it is asked for.

    `soft` codes lie between -1 and 1 and can be trained through; `hard` ones are -1 or 1.
    """

    def __init__(
        self, of: "HashingDenoiser", vectors: Tensor, mask: Tensor, signal: Tensor
    ) -> None:
        self.soft = torch.tanh(of.alpha * signal)
        signs = torch.where(signal >= 0, 1.0, -1.0).to(signal.dtype)
        self.hard = torch.where(signal.isnan(), signal.detach(), signs)  # to be seen, not scored
        self._of, self._vectors, self._mask = of, vectors, mask
        self._learning = torch.is_grad_enabled()

    @property
    def restored(self) -> Tensor:
        """What the decoder makes of the soft codes, (batch, tokens, dim)."""
        learning = self._learning and torch.is_grad_enabled()
        with torch.set_grad_enabled(learning), torch.autocast(self.soft.device.type, enabled=False):
            return self._of.decode(self.soft)

    @property
    def code_error(self) -> Tensor:
        """How far soft codes are from hard ones, (batch,)."""
        return self._error(self.soft - self.hard)

    @property
    def restored_error(self) -> Tensor:
        """How far from the vectors what is restored is, (batch,)."""
        return self._error(self.restored - self._vectors)

    def _error(self, difference: Tensor) -> Tensor:
        """Squares of the real tokens of every text, added up or averaged."""
        with torch.autocast(difference.device.type, enabled=False):
            errors = (self._shares.unsqueeze(-2) @ difference.square()).squeeze(-2)
        return errors.sum(dim=-1) if self._of.reduction == "sum" else errors.mean(dim=-1)

    @cached_property
    def _shares(self) -> Tensor:
        """How much the squares of a token count, (batch, tokens)."""
        real = self._mask.to(self.soft.dtype)
        if self._of.reduction == "sum":
            return real
        return real / real.sum(dim=-1, keepdim=True).clamp_min_(1)


class HashingDenoiser(nn.Module):
    """Three layers to `bits` and three back, by default with the same weights transposed.

    Works in 32 bits at least: a sign is decided close to zero.
    """

    def __init__(
        self, dim: int, bits: int, *, alpha: float, tied: bool, reduction: Reduction
    ) -> None:
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
        """Makes codes the signs of a projection, which keeps angles; gives its matrix (bits, dim).

        A tanh is above -1, so that with 1 added to it the ReLU in the middle does nothing.
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
        if hasattr(self, "weights"):  # they begin where tied ones do
            for weight, tied in zip(self.weights, (last, middle, first), strict=True):
                weight.copy_(tied.mT)
        return last @ first

    def forward(self, vectors: Tensor, mask: Tensor) -> Hashed:
        """Codes and errors of (batch, tokens, dim); padding adds to no error."""
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
            return Hashed(self, vectors, mask, self.encode(vectors))

    def encode(self, vectors: Tensor) -> Tensor:
        """Values in (-1, 1), whose signs are the code."""
        first, second, third = self.encoder
        return torch.tanh(third(torch.relu(second(torch.tanh(first(vectors))))))

    def decode(self, codes: Tensor) -> Tensor:
        """Vectors from codes; the last layer is linear because vectors have no bound."""
        first, second, third = zip(self._decoder_weights(), self.biases, strict=True)
        hidden = torch.tanh(functional.linear(codes, *first))
        return functional.linear(torch.relu(functional.linear(hidden, *second)), *third)

    def _decoder_weights(self) -> list[Tensor]:
        if hasattr(self, "weights"):
            return list(self.weights)
        first, second, third = (layer.get_parameter("weight").mT for layer in self.encoder)
        return [third, second, first]

"""Domains of a state's entries and their distributions under a field.

Under a field `a`, an entry x has a density proportional to `exp(-a x)`, for "gauss" times
`exp(-x^2 / 2)`.
"""

import math
from abc import ABC, abstractmethod
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

SupportName: TypeAlias = Literal["box", "binary", "gauss"]
_FLAT = 1e-6  # below this field, the box is sampled uniformly
_SMALL = 0.1  # below this field, series replace differences of large numbers


class Support(ABC):
    """Samples, means and normalisers of entries under a field, elementwise."""

    @abstractmethod
    def sample(self, field: Tensor) -> Tensor:
        """Draw one value for each entry."""

    @abstractmethod
    def mean(self, field: Tensor) -> Tensor:
        """Return the mean of each entry."""

    @abstractmethod
    def log_normaliser(self, field: Tensor) -> Tensor:
        """Return the log of the sum or integral of the density."""

    def own_energy(self, values: Tensor) -> Tensor:
        """Return the energy without a field, summed over the last dimension."""
        return values.new_zeros(values.shape[:-1])


class Box(Support):
    """[-1, 1], the range of LSTM states: truncated exponentials."""

    def sample(self, field: Tensor) -> Tensor:
        """Invert the distribution function, mirrored where the field is negative."""
        uniform = torch.rand_like(field)
        strength = field.abs().clamp_min(_FLAT)
        drawn = -1 - torch.log1p(uniform * torch.expm1(-2 * strength)) / strength
        drawn = torch.where(field < 0, -drawn, drawn)
        return torch.where(field.abs() < _FLAT, 2 * uniform - 1, drawn).clamp(-1, 1)

    def mean(self, field: Tensor) -> Tensor:
        """`-(coth a - 1 / a)`."""
        large = torch.where(field.abs() < _SMALL, 1.0, field)
        series = field / 3 - field**3 / 45 + 2 * field**5 / 945
        return -torch.where(field.abs() < _SMALL, series, 1 / torch.tanh(large) - 1 / large)

    def log_normaliser(self, field: Tensor) -> Tensor:
        """`log(2 sinh(a) / a)`."""
        small = field.abs() < _SMALL
        strength = torch.where(small, 1.0, field).abs()
        direct = strength + torch.log(-torch.expm1(-2 * strength) / strength)
        series = math.log(2) + field**2 / 6 - field**4 / 180 + field**6 / 2835
        return torch.where(small, series, direct)


class Binary(Support):
    """-1 or 1."""

    def sample(self, field: Tensor) -> Tensor:
        """1 with probability sigmoid(-2 a)."""
        return torch.where(torch.rand_like(field) < torch.sigmoid(-2 * field), 1.0, -1.0).to(field)

    def mean(self, field: Tensor) -> Tensor:
        """`-tanh a`."""
        return -torch.tanh(field)

    def log_normaliser(self, field: Tensor) -> Tensor:
        """`log(2 cosh a)`."""
        return field - logsigmoid(2 * field)


class Gauss(Support):
    """All real numbers, with the energy `x^2 / 2`."""

    def sample(self, field: Tensor) -> Tensor:
        """Draw from a normal distribution with mean -a and deviation 1."""
        return torch.randn_like(field) - field

    def mean(self, field: Tensor) -> Tensor:
        """`-a`."""
        return -field

    def log_normaliser(self, field: Tensor) -> Tensor:
        """`a^2 / 2 + log(2 pi) / 2`."""
        return field**2 / 2 + math.log(2 * math.pi) / 2

    def own_energy(self, values: Tensor) -> Tensor:
        """`|x|^2 / 2`."""
        return values.square().sum(dim=-1) / 2


SUPPORTS: dict[SupportName, Support] = {"box": Box(), "binary": Binary(), "gauss": Gauss()}

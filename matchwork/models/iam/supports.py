"""Where the entries of a state may lie, and how they are distributed there.

Each entry x has the density `exp(-a x)` up to a constant (for "gauss" times `exp(-x^2 / 2)`),
given the field `a` that acts on it.
"""

import math
from typing import Literal, Protocol, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

SupportName: TypeAlias = Literal["box", "binary", "gauss"]
_FLAT = 1e-6  # fields below it leave the box uniform
_SMALL = 0.1  # below it, differences of large numbers give way to series


class Support(Protocol):
    """Draws, means and normalisers of entries under a field, all elementwise."""

    def sample(self, field: Tensor) -> Tensor:
        """One draw for each entry."""
        ...

    def mean(self, field: Tensor) -> Tensor:
        """What the draws are on average."""
        ...

    def log_normaliser(self, field: Tensor) -> Tensor:
        """Log of the sum or integral of the density over the support."""
        ...

    def own_energy(self, values: Tensor) -> Tensor:
        """What entries cost by themselves, added up over the last dimension."""
        ...


class Box:
    """[-1, 1], where the states of an LSTM are: truncated exponentials."""

    def sample(self, field: Tensor) -> Tensor:
        """By the inverse of the distribution function, mirrored where the field is negative."""
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

    def own_energy(self, values: Tensor) -> Tensor:
        """Nothing."""
        return values.new_zeros(values.shape[:-1])


class Binary:
    """-1 or 1: small enough to be enumerated."""

    def sample(self, field: Tensor) -> Tensor:
        """1 with probability sigmoid(-2 a)."""
        return torch.where(torch.rand_like(field) < torch.sigmoid(-2 * field), 1.0, -1.0).to(field)

    def mean(self, field: Tensor) -> Tensor:
        """`-tanh a`."""
        return -torch.tanh(field)

    def log_normaliser(self, field: Tensor) -> Tensor:
        """`log(2 cosh a)`."""
        return field - logsigmoid(2 * field)

    def own_energy(self, values: Tensor) -> Tensor:
        """Nothing."""
        return values.new_zeros(values.shape[:-1])


class Gauss:
    """All real numbers, each held back by `x^2 / 2`."""

    def sample(self, field: Tensor) -> Tensor:
        """Around -a, with deviation 1."""
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

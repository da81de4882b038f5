"""Domains of a state's entries and their distributions under a field.

Under a field `a`, an entry x has a density proportional to `exp(-a x)`, for "gauss" times
`exp(-x^2 / 2)`.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

SupportName: TypeAlias = Literal["box", "binary", "gauss"]
_FLAT = 1e-6  # below this field, the box is sampled uniformly
_SMALL = 0.1  # below this field, series replace differences of large numbers


class Support(NamedTuple):
    """Functions of a field, elementwise; `quadratic` adds the energy `x^2 / 2` to every entry."""

    sample: Callable[[Tensor], Tensor]
    mean: Callable[[Tensor], Tensor]
    log_normaliser: Callable[[Tensor], Tensor]
    quadratic: bool = False

    def own_energy(self, values: Tensor) -> Tensor:
        """Return the energy without a field, summed over the last dimension."""
        if self.quadratic:
            return values.square().sum(dim=-1) / 2
        return values.new_zeros(values.shape[:-1])


def _sample_box(field: Tensor) -> Tensor:
    """Invert the distribution function, mirrored where the field is negative."""
    uniform = torch.rand_like(field)
    strength = field.abs().clamp_min(_FLAT)
    drawn = -1 - torch.log1p(uniform * torch.expm1(-2 * strength)) / strength
    drawn = torch.where(field < 0, -drawn, drawn)
    return torch.where(field.abs() < _FLAT, 2 * uniform - 1, drawn).clamp(-1, 1)


def _mean_box(field: Tensor) -> Tensor:
    """`-(coth a - 1 / a)`."""
    large = torch.where(field.abs() < _SMALL, 1.0, field)
    series = field / 3 - field**3 / 45 + 2 * field**5 / 945
    return -torch.where(field.abs() < _SMALL, series, 1 / torch.tanh(large) - 1 / large)


def _log_normaliser_box(field: Tensor) -> Tensor:
    """`log(2 sinh(a) / a)`."""
    small = field.abs() < _SMALL
    strength = torch.where(small, 1.0, field).abs()
    direct = strength + torch.log(-torch.expm1(-2 * strength) / strength)
    series = math.log(2) + field**2 / 6 - field**4 / 180 + field**6 / 2835
    return torch.where(small, series, direct)


def _sample_binary(field: Tensor) -> Tensor:
    """1 with probability sigmoid(-2 a), else -1."""
    return torch.where(torch.rand_like(field) < torch.sigmoid(-2 * field), 1.0, -1.0).to(field)


SUPPORTS: dict[SupportName, Support] = {
    # [-1, 1], the range of LSTM states: truncated exponentials
    "box": Support(_sample_box, _mean_box, _log_normaliser_box),
    # -1 or 1: the normaliser is `2 cosh a`
    "binary": Support(_sample_binary, lambda a: -torch.tanh(a), lambda a: a - logsigmoid(2 * a)),
    # all real numbers, normal with mean -a and deviation 1
    "gauss": Support(
        lambda a: torch.randn_like(a) - a,
        torch.neg,
        lambda a: a**2 / 2 + math.log(2 * math.pi) / 2,
        quadratic=True,
    ),
}

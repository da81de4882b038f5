"""The weights of a spatial GRU and their shapes."""

from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

Activation: TypeAlias = Literal["tanh", "identity"]


class SpatialWeights(NamedTuple):
    """All weights; the leading axis is the direction: forward, or forward and reverse.

    With u units and c channels, g is u, or 1 for scalar gates shared by all dimensions. The
    columns of `reset` and `gate` are top, left, diagonal, input; those of `state` left, top,
    diagonal: the two orders of the paper.
    """

    reset: Tensor | None  # (D, 3, g, 3u + c): left, top, diagonal; None: no reset gates (r = 1)
    reset_bias: Tensor | None  # (D, 3, g)
    gate: Tensor  # (D, 4, g, 3u + c): input, left, top, diagonal
    gate_bias: Tensor  # (D, 4, g)
    input: Tensor  # (D, u, c)
    state: Tensor  # (D, u, 3u)
    bias: Tensor  # (D, u)

    @property
    def directions(self) -> int:
        """1: forward; 2: forward and reverse."""
        return self.input.shape[0]

    @property
    def units(self) -> int:
        """Width of a state."""
        return self.input.shape[1]

    @property
    def channels(self) -> int:
        """Width of an input."""
        return self.input.shape[2]

    def to(self, dtype: torch.dtype) -> "SpatialWeights":
        """Convert to another type."""
        return SpatialWeights._make(None if part is None else part.to(dtype) for part in self)

    def check(self) -> None:
        """Raise `ValueError` unless shapes, types and devices fit each other."""
        given = self.input
        if given.ndim != 3 or self.directions not in (1, 2) or 0 in given.shape:
            wanted = "(1 or 2 directions, units, channels)"
            raise ValueError(f"input weights must be {wanted}, got {tuple(given.shape)}")
        if not given.is_floating_point():
            raise ValueError(f"weights must be of a floating type, got {given.dtype}")
        if (self.reset is None) != (self.reset_bias is None):
            raise ValueError("reset and reset_bias go together: give both, or None for both")
        directions, units, channels = given.shape
        gates = 1 if self.gate.ndim == 4 and self.gate.shape[2] == 1 else units
        shapes = (
            *((directions, 3, gates, 3 * units + channels), (directions, 3, gates)),
            *((directions, 4, gates, 3 * units + channels), (directions, 4, gates)),
            *(given.shape, (directions, units, 3 * units), (directions, units)),
        )
        for name, part, shape in zip(self._fields, self, shapes, strict=True):
            if part is None:
                continue
            if part.shape != shape:
                raise ValueError(f"{name} weights must be {shape}, got {tuple(part.shape)}")
            if part.dtype != given.dtype or part.device != given.device:
                raise ValueError(
                    f"{name} weights are {part.dtype} on {part.device}, input weights "
                    f"{given.dtype} on {given.device}: use one type and one device"
                )

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

    reset: Tensor | None
    """(D, 3, g, 3u + c): left, top, diagonal; None: no reset gates (r = 1)."""
    reset_bias: Tensor | None
    """(D, 3, g)."""
    gate: Tensor
    """(D, 4, g, 3u + c): input, left, top, diagonal."""
    gate_bias: Tensor
    """(D, 4, g)."""
    input: Tensor
    """(D, u, c)."""
    state: Tensor
    """(D, u, 3u)."""
    bias: Tensor
    """(D, u)."""

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

    @property
    def shared(self) -> bool:
        """Whether all dimensions share one scalar gate."""
        return self.gate.shape[2] == 1

    def to(self, dtype: torch.dtype) -> "SpatialWeights":
        """Convert to another type."""
        return SpatialWeights._make(None if part is None else part.to(dtype) for part in self)

    def check(self) -> None:
        """Raise `ValueError` unless shapes, types and devices fit each other."""
        if self.input.ndim != 3 or self.directions not in (1, 2) or 0 in self.input.shape:
            raise ValueError(
                f"input weights must be (1 or 2 directions, units, channels), got "
                f"{tuple(self.input.shape)}"
            )
        if not self.input.is_floating_point():
            raise ValueError(f"weights must be of a floating type, got {self.input.dtype}")
        if (self.reset is None) != (self.reset_bias is None):
            raise ValueError("reset and reset_bias go together: give both, or None for both")
        for name, shape in self._shapes().items():
            part: Tensor = getattr(self, name)
            if part.shape != shape:
                raise ValueError(f"{name} weights must be {shape}, got {tuple(part.shape)}")
            if part.dtype != self.input.dtype or part.device != self.input.device:
                raise ValueError(
                    f"{name} weights are {part.dtype} on {part.device}, input weights "
                    f"{self.input.dtype} on {self.input.device}: use one type and one device"
                )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        directions, units = self.directions, self.units
        gates = 1 if self.gate.ndim == 4 and self.shared else units
        columns = 3 * units + self.channels
        shapes: dict[str, tuple[int, ...]] = {
            "gate": (directions, 4, gates, columns),
            "gate_bias": (directions, 4, gates),
            "state": (directions, units, 3 * units),
            "bias": (directions, units),
        }
        if self.reset is not None:
            shapes["reset"] = (directions, 3, gates, columns)
            shapes["reset_bias"] = (directions, 3, gates)
        return shapes

"""The engines by name, and the choice of the fastest.

An engine is a module with `supports` and `scan`. It is imported on first use, because some need
a compiler or a GPU.
"""

import logging
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol, cast

import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights
from matchwork.kernels.switch import kernel
from matchwork.registry import Registry

AUTO = "auto"


class EngineModule(Protocol):
    """The functions of every engine."""

    def supports(self, device_type: str, dtype: torch.dtype) -> str | None:
        """Return why the engine cannot run there, or None if it can."""
        ...

    def scan(
        self, scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation
    ) -> Tensor:
        """Compute the states of all cells, differentiably.

        Args:
            scans: The inputs of each direction, shape (directions, batch, rows, columns, channels).
            lengths: Number of real rows and columns, int64, shape (batch, 2).
            weights: All weights.
            activation: Of the candidate.

        Returns:
            Tensor, shape (directions, batch, rows, columns, units), exactly zero outside the real
            rectangles, whatever the inputs are there.
        """
        ...


@dataclass(frozen=True)
class Engine:
    """An engine, imported on first use from the module of this name in this package."""

    module: str

    def supports(self, device_type: str, dtype: torch.dtype) -> str | None:
        """Return why the engine cannot run there, or None if it can."""
        try:
            return self._load().supports(device_type, dtype)
        except ImportError as error:
            return f"it cannot be imported ({error})"

    def __call__(
        self, scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation
    ) -> Tensor:
        """Compute the states of all cells; see `EngineModule.scan`."""
        return self._load().scan(scans, lengths, weights, activation)

    def _load(self) -> EngineModule:
        return cast(EngineModule, import_module(f"{__package__}.{self.module}"))


ENGINES: Registry[Engine] = Registry("spatial GRU engine")
ENGINES.add("reference", Engine("reference"))
ENGINES.add("diagonal", Engine("diagonal"))
ENGINES.add("native", Engine("native"))
ENGINES.add("triton", Engine("triton_engine"))

_FASTEST = {"cpu": "native", "cuda": "triton"}
_FALLBACK = "diagonal"


def _plain_engine(name: str, device_type: str, dtype: torch.dtype) -> Engine:
    """Return the nested loops, whichever engine is named."""
    chosen = ENGINES["reference" if name == AUTO else name]
    return chosen if chosen.module == "reference" else ENGINES["reference"]


@kernel("spatial-gru", plain=_plain_engine)
def choose_engine(name: str, device_type: str, dtype: torch.dtype) -> Engine:
    """Return the engine called `name`, or with "auto" the fastest one that runs there."""
    chosen = _FASTEST.get(device_type, _FALLBACK) if name == AUTO else name
    engine = ENGINES[chosen]
    reason = engine.supports(device_type, dtype)
    if reason is None:
        return engine
    if name != AUTO:
        raise ConfigError(
            f"spatial GRU engine {name!r} cannot run {dtype} on {device_type}: {reason}; "
            f"use engine {AUTO!r} or {_FALLBACK!r}"
        )
    _warn(chosen, reason)
    return ENGINES[_FALLBACK]


@cache  # warns once per process
def _warn(name: str, reason: str) -> None:
    logging.getLogger("matchwork").warning(
        "spatial GRU: using engine %r, because %r cannot run: %s", _FALLBACK, name, reason
    )

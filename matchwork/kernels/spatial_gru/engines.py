"""The engines by name, and which one runs when nobody names one.

An engine is a module with `supports` and `scan`. It is imported when first asked for: some need
a compiler or a GPU, and their absence must not be felt by those who use another.
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
    """What every engine provides."""

    def supports(self, device_type: str, dtype: torch.dtype) -> str | None:
        """None if it can run there, else why not."""
        ...

    def scan(
        self, scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation
    ) -> Tensor:
        """States (D, B, m, n, u) from inputs (D, B, m, n, c), differentiable.

        Exact zeros outside the rectangles of `lengths` (B, 2), whatever the inputs hold there.
        """
        ...


@dataclass(frozen=True)
class Engine:
    """An engine that may not be loaded yet."""

    module: str

    def supports(self, device_type: str, dtype: torch.dtype) -> str | None:
        """None if it can run there, else why not."""
        try:
            return self._load().supports(device_type, dtype)
        except ImportError as error:
            return f"it cannot be imported ({error})"

    def __call__(
        self, scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation
    ) -> Tensor:
        """The states of all cells; see `EngineModule.scan`."""
        return self._load().scan(scans, lengths, weights, activation)

    def _load(self) -> EngineModule:
        return cast(EngineModule, import_module(f"{__package__}.{self.module}"))


ENGINES: Registry[Engine] = Registry("spatial GRU engine")
ENGINES.add("reference", Engine("reference"))
ENGINES.add("diagonal", Engine("diagonal"))
ENGINES.add("native", Engine("native"))
ENGINES.add("triton", Engine("triton_engine"))

_FASTEST = {"cpu": "native", "cuda": "triton"}
_EVERYWHERE = "diagonal"


def _plain_engine(name: str, device_type: str, dtype: torch.dtype) -> Engine:
    """Return the nested loops, whichever engine is named."""
    chosen = ENGINES["reference" if name == AUTO else name]
    return chosen if chosen.module == "reference" else ENGINES["reference"]


@kernel("spatial-gru", plain=_plain_engine)
def choose_engine(name: str, device_type: str, dtype: torch.dtype) -> Engine:
    """Return the engine called `name`, or with "auto" the fastest one that runs there."""
    wanted = _FASTEST.get(device_type, _EVERYWHERE) if name == AUTO else name
    engine = ENGINES[wanted]
    reason = engine.supports(device_type, dtype)
    if reason is None:
        return engine
    if name != AUTO:
        raise ConfigError(
            f"spatial GRU engine {name!r} cannot run {dtype} on {device_type}: {reason}; "
            f"use engine {AUTO!r} or {_EVERYWHERE!r}"
        )
    _notice(wanted, reason)
    return ENGINES[_EVERYWHERE]


@cache  # once a process, however often the engine is missed
def _notice(wanted: str, reason: str) -> None:
    logging.getLogger("matchwork").warning(
        "spatial GRU: engine %r is not used, %r takes its place: %s", wanted, _EVERYWHERE, reason
    )

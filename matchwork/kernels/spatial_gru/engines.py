"""The spatial GRU by one of several engines, and the choice of the fastest."""

import logging
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_args

import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.kernels.spatial_gru.rectangles import scan_inputs
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights
from matchwork.kernels.switch import kernel
from matchwork.registry import Registry, did_you_mean

AUTO = "auto"


@dataclass(frozen=True)
class Engine:
    """A module of this package with `scan`; imported on first use, as some need a compiler."""

    module: str

    def supports(self, device_type: str, dtype: torch.dtype) -> str | None:
        """Return why the engine cannot run there, or None if it can."""
        try:
            supports = getattr(self._load(), "supports", None)
        except ImportError as error:
            return f"it cannot be imported ({error})"
        return supports(device_type, dtype) if supports else None

    def scan(
        self, scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation
    ) -> Tensor:
        """Compute all states, differentiably: 0 past `lengths`, whatever the inputs are there.

        `scans` has the shape (directions, batch, rows, columns, channels); `lengths` is int64.
        """
        states: Tensor = self._load().scan(scans, lengths, weights, activation)
        return states

    def _load(self) -> Any:
        return import_module(f"{__package__}.{self.module}")


ENGINES: Registry[Engine] = Registry("spatial GRU engine")
for _name in ("reference", "diagonal", "native"):
    ENGINES.add(_name, Engine(_name))
ENGINES.add("triton", Engine("triton_engine"))

_FASTEST = {"cpu": "native", "cuda": "triton"}
_FALLBACK = "diagonal"


def spatial_gru(
    inputs: Tensor,
    lengths: Tensor,
    weights: SpatialWeights,
    *,
    activation: Activation = "tanh",
    engine: str = AUTO,
) -> Tensor:
    """Compute the states of all cells.

    Args:
        inputs: Shape (batch, rows, columns, channels). Half precision is computed in float32.
        lengths: Number of real rows and columns per item, shape (batch, 2). Lengths past the grid
            are an error on the CPU; on a GPU, where checking would synchronise, they are clamped.
        weights: All weights.
        activation: Of the candidate: "tanh" or "identity".
        engine: Name of an engine, or "auto" for the fastest one available.

    Returns:
        Tensor, shape (directions, batch, rows, columns, units). Each direction's states are in
        the coordinates of its own scan: the reverse one reads `flip_rectangle(inputs, lengths)`.
        States outside the real rectangle are exactly zero.
    """
    if activation not in get_args(Activation):
        hint = did_you_mean(activation, get_args(Activation))
        raise ConfigError(f"no spatial GRU activation named {activation!r}; {hint}")
    weights.check()
    _check_inputs(inputs, weights)
    _check_lengths(lengths, inputs)
    dtype = _wide(inputs)
    chosen = choose_engine(engine, inputs.device.type, dtype)
    lengths = lengths.to(torch.int64)
    scans = scan_inputs(inputs, lengths, weights.directions).to(dtype)
    if 0 in scans.shape[1:4]:  # no cells: an empty tensor of the right shape
        return (scans @ weights.input[:, None, None].mT.to(dtype)).to(inputs.dtype)
    with torch.autocast(inputs.device.type, enabled=False):
        states = chosen.scan(scans, lengths, weights.to(dtype), activation)
    return states.to(inputs.dtype)


def _plain_engine(name: str, device_type: str, dtype: torch.dtype) -> Engine:
    """Return the nested loops, whichever engine is named."""
    if name != AUTO:
        ENGINES.check(name)
    return ENGINES["reference"]


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


def _wide(values: Tensor) -> torch.dtype:
    return torch.promote_types(values.dtype, torch.float32)


def _check_inputs(inputs: Tensor, weights: SpatialWeights) -> None:
    given = weights.input
    if inputs.ndim != 4 or inputs.shape[-1] != weights.channels:
        wanted = f"(batch, rows, columns, {weights.channels} channels)"
        raise ValueError(f"inputs must be {wanted}, got {tuple(inputs.shape)}")
    if not inputs.is_floating_point() or _wide(inputs) != _wide(given):
        fault = f"inputs are {inputs.dtype}, weights {given.dtype}"
        raise ValueError(f"{fault}: use one floating type")
    if inputs.device != given.device:
        fault = f"inputs are on {inputs.device}, weights on {given.device}"
        raise ValueError(f"{fault}: use one device")


def _check_lengths(lengths: Tensor, inputs: Tensor) -> None:
    batch, rows, columns = inputs.shape[:3]
    if lengths.shape != (batch, 2):
        raise ValueError(f"lengths must be ({batch}, 2), got {tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths must be integers, got {lengths.dtype}")
    if lengths.device != inputs.device:
        fault = f"lengths are on {lengths.device}, inputs on {inputs.device}"
        raise ValueError(f"{fault}: use one device")
    if lengths.is_cuda:  # reading them would synchronise with the GPU
        return
    # With a length past the grid a compiled engine would read outside its memory.
    for item, (height, width) in enumerate(lengths.tolist()):
        if not (0 <= height <= rows and 0 <= width <= columns):
            grid = f"{rows} rows and {columns} columns"
            fault = f"lengths of item {item} are {(height, width)}"
            raise ValueError(f"{fault}, outside its grid of {grid}")

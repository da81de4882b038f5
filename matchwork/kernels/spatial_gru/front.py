"""The one door to the spatial GRU: it checks, chooses the engine and calls it."""

from typing import get_args

import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.kernels.spatial_gru.engines import AUTO, choose_engine
from matchwork.kernels.spatial_gru.rectangles import scan_inputs
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights
from matchwork.registry import did_you_mean


def spatial_gru(
    inputs: Tensor,
    lengths: Tensor,
    weights: SpatialWeights,
    *,
    activation: Activation = "tanh",
    engine: str = AUTO,
) -> Tensor:
    """The states of all cells, (directions, batch, rows, columns, units).

    `inputs` are (batch, rows, columns, channels), `lengths` (batch, 2) the true rows and columns.
    Each direction's states lie in the coordinates of its own scan: the reverse one reads
    `flip_rectangle(inputs, lengths)`. Outside the true rectangle states are exactly zero.
    Half precision is computed in float32. Lengths past the grid are an error on the CPU; on a GPU
    nobody waits for their values, and they count as the grid's own.
    """
    _check_activation(activation)
    weights.check()
    _check_inputs(inputs, weights)
    _check_lengths(lengths, inputs)
    dtype = _wide(inputs)
    chosen = choose_engine(engine, inputs.device.type, dtype)
    lengths = lengths.to(torch.int64)
    scans = scan_inputs(inputs, lengths, weights.directions).to(dtype)
    if 0 in scans.shape[1:4]:  # no cell: nothing to scan, only a shape to give
        return (scans @ weights.input[:, None, None].mT.to(dtype)).to(inputs.dtype)
    with torch.autocast(inputs.device.type, enabled=False):
        states = chosen(scans, lengths, weights.to(dtype), activation)
    return states.to(inputs.dtype)


def _wide(values: Tensor) -> torch.dtype:
    return torch.promote_types(values.dtype, torch.float32)


def _check_activation(activation: str) -> None:
    known = get_args(Activation)
    if activation not in known:
        hint = did_you_mean(activation, known)
        raise ConfigError(f"no spatial GRU activation named {activation!r}; {hint}")


def _check_inputs(inputs: Tensor, weights: SpatialWeights) -> None:
    if inputs.ndim != 4 or inputs.shape[-1] != weights.channels:
        raise ValueError(
            f"inputs are (batch, rows, columns, {weights.channels} channels), got "
            f"{tuple(inputs.shape)}"
        )
    if not inputs.is_floating_point() or _wide(inputs) != _wide(weights.input):
        raise ValueError(
            f"inputs are {inputs.dtype}, weights {weights.input.dtype}: use one floating type"
        )
    if inputs.device != weights.input.device:
        raise ValueError(
            f"inputs are on {inputs.device}, weights on {weights.input.device}: use one device"
        )


def _check_lengths(lengths: Tensor, inputs: Tensor) -> None:
    batch, rows, columns = inputs.shape[:3]
    if lengths.shape != (batch, 2):
        raise ValueError(f"lengths are ({batch}, 2), got {tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths are whole numbers, got {lengths.dtype}")
    if lengths.device != inputs.device:
        raise ValueError(
            f"lengths are on {lengths.device}, inputs on {inputs.device}: use one device"
        )
    if lengths.is_cuda:  # to look at them, the host would have to wait for the GPU
        return
    # A length past the grid would send a compiled engine outside the memory it was given.
    for item, (height, width) in enumerate(lengths.tolist()):
        if not (0 <= height <= rows and 0 <= width <= columns):
            raise ValueError(
                f"lengths of item {item} are {(height, width)}, "
                f"outside its grid of {rows} rows and {columns} columns"
            )

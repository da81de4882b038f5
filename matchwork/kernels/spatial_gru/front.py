"""The spatial GRU: checks its arguments, chooses an engine and calls it."""

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
    _check_activation(activation)
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
            f"inputs must be (batch, rows, columns, {weights.channels} channels), got "
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
        raise ValueError(f"lengths must be ({batch}, 2), got {tuple(lengths.shape)}")
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise ValueError(f"lengths must be integers, got {lengths.dtype}")
    if lengths.device != inputs.device:
        raise ValueError(
            f"lengths are on {lengths.device}, inputs on {inputs.device}: use one device"
        )
    if lengths.is_cuda:  # reading them would synchronise with the GPU
        return
    # With a length past the grid a compiled engine would read outside its memory.
    for item, (height, width) in enumerate(lengths.tolist()):
        if not (0 <= height <= rows and 0 <= width <= columns):
            raise ValueError(
                f"lengths of item {item} are {(height, width)}, "
                f"outside its grid of {rows} rows and {columns} columns"
            )

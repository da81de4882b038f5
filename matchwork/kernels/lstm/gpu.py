"""LSTMs on a GPU: by our Triton kernels where possible, else by cuDNN (torch.lstm)."""

from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from matchwork.kernels.lstm.steps import plain_states
from matchwork.kernels.switch import kernel

_CLOSED = -1e4  # logit of a gate that is exactly 0
_ALIGNED = 8  # pads the inputs to a width that a GPU loads fast


def _plain(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    with torch.autocast(vectors.device.type, enabled=False):
        dtype = torch.promote_types(vectors.dtype, torch.float32)
        vectors, weight, recurrent, bias = (
            part.to(dtype) for part in (vectors, weight, recurrent, bias)
        )
        return plain_states(torch.einsum("sbld,sdw->sblw", vectors, weight), mask, recurrent, bias)


@kernel("lstm-gpu", plain=_plain)
def states_on_gpu(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """Return the states of all words; 0 at padding. Other arguments as in `steps.states_of`.

    `vectors` are (stacks, batch, length, dim), `weight` is (stacks, dim, 8 units). Triton launches
    one kernel for all steps, cuDNN several per step.
    """
    triton = _triton_engine() if vectors.is_cuda and vectors.dtype != torch.float64 else None
    if triton is None or recurrent.shape[2] > triton.MAX_UNITS:
        return fused_states(vectors, mask, weight, recurrent, bias)
    products = torch.baddbmm(bias.unsqueeze(1), vectors.flatten(1, 2), weight)
    gates = products.view(*vectors.shape[:3], weight.shape[-1]).float()
    states: Tensor = triton.states_of(gates, mask, recurrent.float())
    return states


@cache
def _triton_engine() -> Any:
    """Return the module with the Triton kernels, or None if Triton is not installed."""
    try:
        return import_module("matchwork.kernels.lstm.triton_engine")
    except ImportError:
        return None


def fused_states(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """Return the states of all words without reading lengths on the host; see `states_on_gpu`.

    An additional input, 1 at padding, closes the input gate, so that a state stays 0 until its
    text begins.
    """
    units = recurrent.shape[2]
    with torch.autocast(vectors.device.type, enabled=False):
        dtype = torch.promote_types(vectors.dtype, torch.float32)
        padding = pad((~mask).to(dtype).unsqueeze(-1), (0, _ALIGNED - 1))
        closed = torch.zeros(_ALIGNED, 2, 4, units, dtype=dtype, device=vectors.device)
        closed[0, :, 0] = _CLOSED
        start = vectors.new_zeros(2, len(mask), units, dtype=dtype)
        states = []
        for own, *parts in zip(vectors, weight, recurrent, bias, strict=True):
            inputs, again, shift = (part.to(dtype) for part in parts)
            weights = _in_one_piece(torch.cat([inputs, closed.flatten(1)]), again, shift)
            read = torch.cat([own.to(dtype), padding], dim=-1)
            options = (True, 1, 0.0, torch.is_grad_enabled(), True, True)  # as nn.LSTM passes them
            states.append(torch.lstm(read, (start, start), weights, *options)[0])
    return torch.stack(states).masked_fill(~mask.unsqueeze(-1), 0.0)


def _in_one_piece(weight: Tensor, recurrent: Tensor, bias: Tensor) -> list[Tensor]:
    """Return the weights of both directions for `torch.lstm`, in cuDNN's memory layout."""
    forward, backward = weight.T.chunk(2)
    shifts = [part for shift in bias.chunk(2) for part in (shift, torch.zeros_like(shift))]
    parts = [forward, recurrent[0].T, backward, recurrent[1].T, *shifts]
    flat = torch.cat([part.flatten() for part in parts])
    slices = torch.split(flat, [part.numel() for part in parts])
    shaped = [part.view_as(like) for part, like in zip(slices, parts, strict=True)]
    return [shaped[index] for index in (0, 1, 4, 5, 2, 3, 6, 7)]

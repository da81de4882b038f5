"""LSTMs on a GPU: by our Triton kernels where possible, else by cuDNN."""

from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from matchwork.kernels.lstm.fused import fused_states
from matchwork.kernels.lstm.reference import states_from_vectors
from matchwork.kernels.switch import kernel


@kernel("lstm-gpu", plain=states_from_vectors)
def states_on_gpu(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """Return the states of all words; 0 at padding.

    Triton launches one kernel for all steps, cuDNN several per step.

    Args:
        vectors: Word vectors, shape (stacks, batch, length, dim).
        mask: True = real word, shape (batch, length); padding is at the end.
        weight: Tensor, shape (stacks, dim, 8 units).
        recurrent: Tensor, shape (stacks, 2, units, 4 units).
        bias: Tensor, shape (stacks, 8 units).

    Returns:
        Tensor, shape (stacks, batch, length, 2 units).
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

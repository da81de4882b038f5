"""The compiled CPU engine: batch items across SIMD lanes, lane groups across threads.

Items of like size share a sweep that goes no further than they do. Only the states are kept for
the backward sweep; it computes the gates again. Which items meet in a group depends on lengths
alone, and weight gradients are summed group by group: the number of threads changes no bit.
"""

import ctypes
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.interact.spatial_gru.compile import BuildError, library
from matchwork.interact.spatial_gru.weights import Activation, SpatialWeights

_SUFFIXES = {torch.float32: "float32", torch.float64: "float64"}
_NUMBERS = ("directions", "batch", "rows", "columns", "channels", "units")
_SETTINGS = ("gate_width", "resets", "bounded", "threads")
_POINTERS = ("lengths", "inputs", "gate", "gate_bias", "candidate", "candidate_bias")


class _Problem(ctypes.Structure):
    """The kernel's struct of the same name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in (*_NUMBERS, *_SETTINGS)),
        *((name, ctypes.c_void_p) for name in _POINTERS),
    )


def supports(device_type: str, dtype: torch.dtype) -> str | None:
    """None if the kernel runs here, else why not; builds it when asked for the first time."""
    if device_type != "cpu":
        return "it runs on the CPU only"
    if dtype not in _SUFFIXES:
        return "it computes in float32 or float64"
    return _build_failure()


@cache  # a build that failed once is not tried again in this process
def _build_failure() -> str | None:
    try:
        library()
    except BuildError as error:
        return str(error)
    return None


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """States of all cells, (directions, batch, rows, columns, units)."""
    gates = weights.gate.flatten(1, 2)
    gate_bias = weights.gate_bias.flatten(1)
    if weights.reset is not None and weights.reset_bias is not None:
        gates = torch.cat((weights.reset.flatten(1, 2), gates), dim=1)
        gate_bias = torch.cat((weights.reset_bias.flatten(1), gate_bias), dim=1)
    # The kernel reads one order everywhere: left, top, diagonal, input.
    top, left, rest = gates.tensor_split((weights.units, 2 * weights.units), dim=-1)
    gates = torch.cat((left, top, rest), dim=-1)
    candidate = torch.cat((weights.state, weights.input), dim=-1)
    width, bounded = weights.gate.shape[2], activation == "tanh"
    states: Tensor = _Scan.apply(  # type: ignore[no-untyped-call]
        scans, lengths, gates, gate_bias, candidate, weights.bias, width, bounded
    )
    return states


class _Scan(torch.autograd.Function):
    """Calls the kernel; saves nothing but the states beside what was given."""

    @staticmethod
    def forward(
        ctx: Any,
        scans: Tensor,
        lengths: Tensor,
        gates: Tensor,
        gate_bias: Tensor,
        candidate: Tensor,
        bias: Tensor,
        width: int,
        bounded: bool,
    ) -> Tensor:
        given = [part.contiguous() for part in (lengths, scans, gates, gate_bias, candidate, bias)]
        states = scans.new_empty(*scans.shape[:-1], bias.shape[-1])
        _call("forward", _problem(given, width, bounded), states)
        ctx.save_for_backward(*given, states)
        ctx.width, ctx.bounded = width, bounded
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        *given, states = ctx.saved_tensors
        weights = given[2:]
        grad_scans = torch.empty_like(given[1])
        flat = states.new_empty(len(given[-1]), sum(part[0].numel() for part in weights))
        problem = _problem(given, ctx.width, ctx.bounded)
        _call("backward", problem, states, grad_states.contiguous(), grad_scans, flat)
        parts = flat.split([part[0].numel() for part in weights], dim=1)
        grads = (grad.view_as(part) for grad, part in zip(parts, weights, strict=True))
        return grad_scans, None, *grads, None, None


def _problem(given: list[Tensor], width: int, bounded: bool) -> _Problem:
    _, scans, gates, _, _, bias = given
    threads = torch.get_num_threads()
    return _Problem(
        *scans.shape[:4],
        scans.shape[4],
        bias.shape[1],
        width,
        gates.shape[1] == 7 * width,
        bounded,
        threads,
        *(part.data_ptr() for part in given),
    )


def _call(name: str, problem: _Problem, *arrays: Tensor) -> None:
    function = getattr(library(), f"{name}_{_SUFFIXES[arrays[0].dtype]}")
    pointers = (ctypes.c_void_p(array.data_ptr()) for array in arrays)
    if function(ctypes.byref(problem), *pointers) != 0:  # ctypes lets go of the GIL meanwhile
        raise MemoryError("the spatial GRU kernel found no memory for its working rows")

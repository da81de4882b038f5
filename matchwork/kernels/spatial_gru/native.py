"""The compiled CPU engine: batch items across SIMD lanes, groups of lanes across threads.

Items of similar size form a group. Only the states are saved for the backward pass, which
recomputes the gates. Groups depend on lengths alone, and weight gradients are summed group by
group, so that the number of threads changes no bit of the result.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.kernels.spatial_gru.compile import BuildError, library
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights

_SUFFIXES = {torch.float32: "float32", torch.float64: "float64"}
_NUMBERS = ("directions", "batch", "rows", "columns", "channels", "units")
_SETTINGS = ("gate_width", "bounded", "threads")


class _GivenWeights(ctypes.Structure):
    """The C++ struct of the same name: `SpatialWeights` as pointers."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in SpatialWeights._fields)


class _Problem(ctypes.Structure):
    """The C++ struct of the same name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in (*_NUMBERS, *_SETTINGS)),
        ("lengths", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("weights", _GivenWeights),
    )


def supports(device_type: str, dtype: torch.dtype) -> str | None:
    """Return why the kernel cannot run, or None if it can; compiles it on the first call."""
    if device_type != "cpu":
        return "it runs on the CPU only"
    if dtype not in _SUFFIXES:
        return "it computes in float32 or float64"
    return _build_failure()


@cache  # a failed build is not repeated in this process
def _build_failure() -> str | None:
    try:
        library()
    except BuildError as error:
        return str(error)
    return None


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """Return the states of all cells; see `engines.EngineModule.scan`."""
    states: Tensor = _Scan.apply(  # type: ignore[no-untyped-call]
        activation == "tanh", lengths, scans, *weights
    )
    return states


class _Scan(torch.autograd.Function):
    """Call the kernel; of its results only the states are saved for the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, bounded: bool, lengths: Tensor, scans: Tensor, *weights: Tensor | None
    ) -> Tensor:
        lengths, scans = lengths.contiguous(), scans.contiguous()
        weights = tuple(None if part is None else part.contiguous() for part in weights)
        problem = _problem(bounded, lengths, scans, *weights)
        states = scans.new_empty(*scans.shape[:-1], problem.units)
        _call("forward", states.dtype, problem, _address(states))
        ctx.save_for_backward(states, lengths, scans, *weights)
        ctx.bounded = bounded
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        states, lengths, scans, *weights = ctx.saved_tensors
        grad_states = grad_states.contiguous()
        grads = [None if part is None else torch.empty_like(part) for part in (scans, *weights)]
        arrays = [_address(array) for array in (states, grad_states, grads[0])]
        problem = _problem(ctx.bounded, lengths, scans, *weights)
        _call("backward", states.dtype, problem, *arrays, ctypes.byref(_given(grads[1:])))
        return None, None, *grads


def _address(array: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.data_ptr())


def _given(weights: Sequence[Tensor | None]) -> _GivenWeights:
    return _GivenWeights(*map(_address, weights))


def _problem(bounded: bool, lengths: Tensor, scans: Tensor, *parts: Tensor | None) -> _Problem:
    weights = SpatialWeights._make(parts)
    return _Problem(
        *scans.shape,
        weights.units,
        weights.gate.shape[2],
        bounded,
        torch.get_num_threads(),
        _address(lengths),
        _address(scans),
        _given(weights),
    )


def _call(name: str, dtype: torch.dtype, problem: _Problem, *arrays: object) -> None:
    function = getattr(library(), f"{name}_{_SUFFIXES[dtype]}")
    if function(ctypes.byref(problem), *arrays) != 0:  # ctypes releases the GIL
        raise MemoryError("the spatial GRU kernel ran out of memory for its buffers")

"""The compiled CPU engine: batch items across SIMD lanes, groups of lanes across threads.

Only states are saved for the backward pass. Groups depend on lengths alone, and weight gradients
are summed group by group, so that the number of threads changes no bit of the result. The kernel
has a C interface, is compiled on first use and cached; two processes may build at once.
"""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.errors import MatchworkError, OutputError
from matchwork.files import atomic_write, user_cache
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights

CACHE_VARIABLE = "MATCHWORK_NATIVE_CACHE"
SOURCES = Path(__file__).parent / "native"
_COMPILERS = ("c++", "g++", "clang++")
_FLAGS = (
    *("-std=c++17", "-O3", "-shared", "-fPIC", "-pthread", "-fno-math-errno"),
    *("-fno-trapping-math", "-ffp-contract=fast", "-w"),
)
# Options for code tuned to this processor, by compiler; without them the kernel is only slower.
_TUNINGS = (("-march=native",), ("-mcpu=native",), ())
_TIME_LIMIT = 300  # seconds
_SUFFIXES = {torch.float32: "float32", torch.float64: "float64"}
_SIZES = ("directions", "batch", "rows", "columns", "channels", "units", "gate_width")


class _GivenWeights(ctypes.Structure):
    """The C++ struct of the same name: `SpatialWeights` as pointers."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in SpatialWeights._fields)


class _Problem(ctypes.Structure):
    """The C++ struct of the same name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in (*_SIZES, "bounded", "threads")),
        *((name, ctypes.c_void_p) for name in ("lengths", "inputs")),
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
    """Return the states of all cells; see `engines.Engine.scan`."""
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
    sizes = (*scans.shape, weights.units, weights.gate.shape[2])
    arrays = (_address(lengths), _address(scans), _given(weights))
    return _Problem(*sizes, bounded, torch.get_num_threads(), *arrays)


def _call(name: str, dtype: torch.dtype, problem: _Problem, *arrays: object) -> None:
    function = getattr(library(), f"{name}_{_SUFFIXES[dtype]}")
    if function(ctypes.byref(problem), *arrays) != 0:  # ctypes releases the GIL
        raise MemoryError("the spatial GRU kernel ran out of memory for its buffers")


class BuildError(MatchworkError):
    """The native kernel cannot be compiled; the message says why in one line."""


@cache
def library() -> ctypes.CDLL:
    """Load the kernel, compiled now unless it is in the cache."""
    compiler = _compiler()
    folder = os.environ.get(CACHE_VARIABLE) or user_cache() / "native"
    cached = Path(folder) / f"spatial_gru-{_fingerprint(compiler)}.so"
    if cached.exists():
        with suppress(OSError):  # a damaged file is compiled again
            return ctypes.CDLL(str(cached))
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / cached.name
        _build(compiler, built)
        # Without a writable cache every process compiles again.
        with suppress(OutputError), atomic_write(cached, "wb") as stream:
            stream.write(built.read_bytes())
        for path in (cached, built):
            try:
                return ctypes.CDLL(str(path))
            except OSError as error:
                reason = str(error)
    raise BuildError(f"the library was compiled but cannot be loaded: {reason}")


def _compiler() -> list[str]:
    if given := os.environ.get("CXX", "").strip():
        try:
            return shlex.split(given)
        except ValueError as error:
            raise BuildError(f"CXX is not a command: {given} ({error})") from error
    for name in _COMPILERS:
        if path := shutil.which(name):
            return [path]
    known = ", ".join(_COMPILERS)
    raise BuildError(f"no C++ compiler found ({known}); install one or name it in CXX")


def _fingerprint(compiler: list[str]) -> str:
    """Return a hash of the source, the compiler and the processor."""
    parts = [path.name + path.read_text("utf-8") for path in sorted(SOURCES.glob("*.?pp"))]
    parts += [*compiler, *_FLAGS, platform.machine(), _processor(), _run([*compiler, "--version"])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _processor() -> str:
    """Return the processor's instruction sets: several machines may share a cache folder."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.lower().startswith(("flags", "features"))), "")


def _build(compiler: list[str], path: Path) -> None:
    source = str(SOURCES / "spatial_gru.cpp")
    for tuning in _TUNINGS:
        try:
            _run([*compiler, *_FLAGS, *tuning, source, "-o", str(path)])
            break
        except BuildError:
            if not tuning:
                raise
    if not path.exists():
        raise BuildError(f"compiler {shlex.join(compiler)!r} succeeded but wrote no library")


def _run(command: list[str]) -> str:
    options: Any = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": _TIME_LIMIT}
    try:
        done: CompletedProcess[str] = subprocess.run(
            command, encoding="utf-8", errors="replace", check=False, **options
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"compiler {command[0]!r} did not run: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        message = next((line for line in lines if "error" in line), (lines or ["no message"])[-1])
        raise BuildError(f"compiler {command[0]!r} failed ({done.returncode}): {message}")
    return done.stdout

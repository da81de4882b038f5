"""Compile the native kernel on first use and cache the library.

The library has a C interface without Python or torch, so that any C++17 compiler will do. Its
file name contains a hash of the source, the compiler and the processor; two processes may build
at once.
"""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from matchwork.errors import MatchworkError, OutputError
from matchwork.files import atomic_write, user_cache

CACHE_VARIABLE = "MATCHWORK_NATIVE_CACHE"
SOURCES = Path(__file__).parent / "native"
_COMPILERS = ("c++", "g++", "clang++")
_FLAGS = ("-std=c++17", "-O3", "-shared", "-fPIC", "-pthread", "-fno-math-errno")
_EXACT = ("-fno-trapping-math", "-ffp-contract=fast", "-w")
# Options for code tuned to this processor, by compiler; without them the kernel is only slower.
_TUNINGS = (("-march=native",), ("-mcpu=native",), ())
_TIME_LIMIT = 300  # seconds


class BuildError(MatchworkError):
    """The native kernel cannot be compiled; the message says why in one line."""


@cache
def library() -> ctypes.CDLL:
    """Load the kernel, compiled now unless it is in the cache."""
    compiler = _compiler()
    cached = _cache_folder() / f"spatial_gru-{_fingerprint(compiler)}.so"
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
    raise BuildError(
        f"no C++ compiler found ({', '.join(_COMPILERS)}); install one or name it in CXX"
    )


def _cache_folder() -> Path:
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache() / "native"


def _fingerprint(compiler: list[str]) -> str:
    """Return a hash of the source, the compiler and the processor."""
    parts = [path.name + path.read_text("utf-8") for path in sorted(SOURCES.glob("*.?pp"))]
    parts += [*compiler, *_FLAGS, *_EXACT, platform.machine(), _processor()]
    parts.append(_run([*compiler, "--version"]))
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
            _run([*compiler, *_FLAGS, *_EXACT, *tuning, source, "-o", str(path)])
            break
        except BuildError:
            if not tuning:
                raise
    if not path.exists():
        raise BuildError(f"compiler {shlex.join(compiler)!r} succeeded but wrote no library")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIME_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"compiler {command[0]!r} did not run: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        message = next((line for line in lines if "error" in line), (lines or ["no message"])[-1])
        raise BuildError(f"compiler {command[0]!r} failed ({done.returncode}): {message}")
    return done.stdout

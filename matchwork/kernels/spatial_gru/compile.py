"""Building the native kernel on first use, and finding it again afterwards.

The library is a plain C interface without Python or torch in it, so any C++17 compiler will do.
It is kept under a name that says what it was made from: another compiler, processor or version
of the source makes another file, and two processes may build at once.
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
# Compilers disagree on how to ask for this processor; without either the kernel is only slower.
_TUNINGS = (("-march=native",), ("-mcpu=native",), ())
_TIME_LIMIT = 300  # seconds


class BuildError(MatchworkError):
    """The native kernel cannot be built here; the message says why in one line."""


@cache
def library() -> ctypes.CDLL:
    """The loaded kernel, built now if this machine has not built it before."""
    compiler = _compiler()
    kept = _cache_folder() / f"spatial_gru-{_fingerprint(compiler)}.so"
    if kept.exists():
        with suppress(OSError):  # a damaged file is built anew
            return ctypes.CDLL(str(kept))
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / kept.name
        _build(compiler, built)
        # A cache that cannot be written costs a build in every process, not the engine.
        with suppress(OutputError), atomic_write(kept, "wb") as stream:
            stream.write(built.read_bytes())
        for path in (kept, built):
            try:
                return ctypes.CDLL(str(path))
            except OSError as error:
                reason = str(error)
    raise BuildError(f"the library was built but cannot be loaded: {reason}")


def _compiler() -> list[str]:
    if given := os.environ.get("CXX", "").strip():
        try:
            return shlex.split(given)
        except ValueError as error:
            raise BuildError(f"CXX is not a command: {given} ({error})") from error
    for name in _COMPILERS:
        if found := shutil.which(name):
            return [found]
    raise BuildError(
        f"no C++ compiler found ({', '.join(_COMPILERS)}); install one or name it in CXX"
    )


def _cache_folder() -> Path:
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache() / "native"


def _fingerprint(compiler: list[str]) -> str:
    """What the library is made from and for, as a short hash."""
    parts = [path.name + path.read_text("utf-8") for path in sorted(SOURCES.glob("*.?pp"))]
    parts += [*compiler, *_FLAGS, *_EXACT, platform.machine(), _processor()]
    parts.append(_run([*compiler, "--version"]))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _processor() -> str:
    """The instructions this processor knows: a cache folder may be shared by several machines."""
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
        raise BuildError(f"compiler {shlex.join(compiler)!r} ended well but made no library")


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
        said = next((line for line in lines if "error" in line), lines[-1] if lines else "nothing")
        raise BuildError(f"compiler {command[0]!r} ended with {done.returncode}, saying: {said}")
    return done.stdout

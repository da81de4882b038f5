"""What a process does with memory that it has freed."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of mallopt, as glibc numbers them
_NEVER, _DEFAULT_TRIM = -1, 128 * 1024
_NONE, _DEFAULT_MAPS = 0, 65536


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep what is freed for what comes next, and give it back to the system at the end.

    Every step of training frees what the next one asks for. The C library returns large blocks
    at once, so that each step on a CPU would wait for the system to clear the same pages anew.
    Other C libraries than glibc are left as they are.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "malloc_trim"):
        yield
        return
    library.mallopt(_MMAP_MAX, _NONE)
    library.mallopt(_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_MMAP_MAX, _DEFAULT_MAPS)
        library.mallopt(_TRIM_THRESHOLD, _DEFAULT_TRIM)
        library.malloc_trim(0)

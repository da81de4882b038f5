"""One switch for all hand-written kernels, and the registry that names them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from matchwork.errors import ConfigError
from matchwork.registry import Registry

P = ParamSpec("P")
R = TypeVar("R")
VARIABLE = "MATCHWORK_KERNELS"
_disabled: ContextVar[bool] = ContextVar("kernels disabled", default=False)


class Kernel(NamedTuple):
    """A hand-written function and the plain PyTorch one that takes the same arguments."""

    fast: Callable[..., Any]
    plain: Callable[..., Any]


KERNELS: Registry[Kernel] = Registry("kernel")


def enabled() -> bool:
    """Return whether hand-written kernels run: not with `MATCHWORK_KERNELS=off`."""
    setting = os.environ.get(VARIABLE, "on")
    if setting not in ("on", "off"):
        raise ConfigError(f'{VARIABLE} must be "on" or "off", got {setting!r}')
    return setting == "on" and not _disabled.get()


@contextmanager
def disabled() -> Iterator[None]:
    """Run plain PyTorch in place of all hand-written kernels, in this thread."""
    token = _disabled.set(True)
    try:
        yield
    finally:
        _disabled.reset(token)


def kernel(name: str, plain: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that registers a kernel; with kernels off, PyTorch's `plain` runs."""

    def decorate(fast: Callable[P, R]) -> Callable[P, R]:
        KERNELS.add(name, Kernel(fast, plain))

        @wraps(fast)
        def switched(*args: P.args, **kwargs: P.kwargs) -> R:
            return (fast if enabled() else plain)(*args, **kwargs)

        return switched

    return decorate

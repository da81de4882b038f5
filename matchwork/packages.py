"""Import tricks: names loaded on first use, callable packages, a package hidden from imports."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports its names on first use.

    `homes` maps each public name to "module" or "module:name".
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        return getattr(import_module(module), attribute or name)

    return load


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        verb = self.__name__.rpartition(".")[2]
        return getattr(self, verb)(*arguments, **settings)


def make_callable(package: str) -> None:
    """Make a package callable as the function of the same name inside it: `mw.train(...)`.

    Python binds a subpackage to its parent as soon as anything inside it is imported, which
    would hide a function of the same name.
    """
    sys.modules[package].__class__ = _CallablePackage


@contextmanager
def without_package(package: str) -> Iterator[None]:
    """Hide a package from imports inside the block, unless it is imported already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]

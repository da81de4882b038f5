"""How packages are loaded: names on first use, packages that can be called, one kept out."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: `homes` says in which module ("module:name") each name lives.

    Importing the package then costs nothing; torch and Lightning load when they are needed.
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
    """Let a package be called as the function it is named after: `mw.train(...)`.

    Python binds a subpackage to its parent as soon as anything inside it is imported, which
    would hide a function of the same name.
    """
    sys.modules[package].__class__ = _CallablePackage


@contextmanager
def absent(package: str) -> Iterator[None]:
    """Import something as if `package`, which it would try for, were not installed."""
    if package in sys.modules:  # somebody wanted it: nothing is spared by hiding it
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]

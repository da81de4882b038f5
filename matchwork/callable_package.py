"""Packages named after a verb can be called: `mw.train(...)` runs `matchwork.train.train`.

Python binds a subpackage to its parent's attribute as soon as anything inside it is imported,
which would hide a function of the same name. Making the package itself callable lets the
public API read `mw.rank(...)` and the folders keep the names of the flow.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        verb = self.__name__.rpartition(".")[2]
        return getattr(self, verb)(*arguments, **settings)


def make_callable(package: str) -> None:
    """Let the package with this full name be called as the function it is named after."""
    sys.modules[package].__class__ = _CallablePackage

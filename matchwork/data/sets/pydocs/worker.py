"""Collect docstrings by importing packages; run as a script in a separate process.

Packages must be imported because many docstrings are generated (half of scipy's). That costs
memory and has side effects, so the caller never does it. Arguments: package names. Standard output:
JSON lines `{"names", "doc"}`, then `{"modules", "failed"}`. Only the standard library is used, so
that the script runs wherever its file lies.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import TextIO

# Modules that hold no documentation of their own, need missing extras, open windows, take long
# to import or end the process.
# fmt: off
SKIPPED_PARTS = frozenset({
    "antigravity", "benchmarks", "conftest", "cuda", "deprecated", "distutils", "extern",
    "externals", "f2py", "idlelib", "lib2to3", "setup", "test", "testing", "tests", "this",
    "tkinter", "turtle", "turtledemo", "vendor", "vendored", "vendors",
})
SKIPPED_MODULES = frozenset({
    "lightning.app", "lightning.fabric.cli", "lightning.pytorch.cli", "numba.scripts",
    "numpy.ma.timer_comparison", "scipy.datasets", "sympy.galgebra", "sympy.interactive",
    "sympy.plotting.pygletplot", "torch.contrib", "torch.distributed", "torch.onnx",
    "torch.utils.benchmark", "torch.utils.bottleneck", "torch.utils.hipify",
    "torch.utils.tensorboard", "torch.utils.viz", "torch.xpu",
})
# fmt: on


def is_wanted(module: str) -> bool:
    """Return whether a module, by its full name, is public and safe to import."""
    parts = module.split(".")
    hidden = any(part.startswith("_") or part in SKIPPED_PARTS for part in parts)
    return not hidden and module not in SKIPPED_MODULES


def load(name: str) -> ModuleType | None:
    """Import a module; return None on any error (it is counted, not fatal)."""
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit):
        return None


def walk(name: str, failed: list[str]) -> Iterator[ModuleType]:
    """Yield a module and its public submodules, in sorted order."""
    module = load(name)
    if module is None:
        failed.append(name)
        return
    yield module
    below = sorted(info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ())))
    for child in below:
        full = f"{name}.{child}"
        if is_wanted(full):
            yield from walk(full, failed)


def own_doc(value: object) -> str | None:
    """Return the docstring of the object itself, not one inherited from its type."""
    doc = getattr(value, "__doc__", None)
    if not isinstance(doc, str) or doc == type(value).__doc__:
        return None
    return doc


def members(owner: ModuleType | type) -> Iterator[tuple[str, object]]:
    """Yield the public attributes defined on a module or class, in sorted order."""
    for name, value in sorted(vars(owner).items(), key=lambda item: str(item[0])):
        if not str(name).startswith("_"):
            yield str(name), value


def documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield (qualified name, docstring) of a module, its functions, classes and their members."""
    package = module.__name__.partition(".")[0]
    if doc := own_doc(module):
        yield module.__name__, doc
    for name, value in members(module):
        home = getattr(value, "__module__", None)
        foreign = isinstance(home, str) and home.partition(".")[0].lstrip("_") != package
        if foreign or isinstance(value, ModuleType):
            continue
        full = f"{module.__name__}.{name}"
        if isinstance(value, type):
            if doc := own_doc(value):
                yield full, doc
            for inner, attribute in members(value):
                if doc := own_doc(attribute):
                    yield f"{full}.{inner}", doc
        elif (inspect.isroutine(value) or callable(value)) and (doc := own_doc(value)):
            yield full, doc


def collect(packages: list[str], output: TextIO) -> None:
    """Write every distinct docstring of the packages with the names of all objects that have it."""
    names: dict[str, list[str]] = {}
    failed: list[str] = []
    modules = 0
    for package in packages:
        for module in walk(package, failed):
            modules += 1
            for name, doc in documented(module):
                names.setdefault(doc, []).append(name)
    for doc, carriers in names.items():
        output.write(json.dumps({"names": carriers, "doc": doc}) + "\n")
    output.write(json.dumps({"modules": modules, "failed": failed}) + "\n")


def main() -> None:
    """Write records to standard output and redirect what imported code prints."""
    warnings.simplefilter("ignore")
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        collect(sys.argv[1:], output)
    # Skip the threads and exit handlers of the imported packages.
    os._exit(0)


if __name__ == "__main__":
    main()

"""Packages and what they import: small, and without cycles, imports inside functions included."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "matchwork"
FILES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 33_260
MAX_MODULES = 16


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def defined_in(module: str, name: str, seen: int = 0) -> str:
    """Follow a name through packages that pass it on, to where it is defined."""
    path = MODULES[module]
    if path.name == "__init__.py" and seen < 5:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for alias in node.names:
                    if (alias.asname or alias.name) == name and node.module != module:
                        return defined_in(node.module, alias.name, seen + 1)
    return module


def edges() -> dict[str, set[str]]:
    """Return which module needs which; a package that only passes names on is looked through."""
    needs: dict[str, set[str]] = {name: set() for name in MODULES}
    for name, path in MODULES.items():
        if path.name == "__init__.py":
            continue
        pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                pending += node.orelse
                continue
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    needs[name].add(
                        full if full in MODULES else defined_in(node.module, alias.name)
                    )
            elif isinstance(node, ast.Import):
                needs[name] |= {alias.name for alias in node.names if alias.name in MODULES}
            pending += ast.iter_child_nodes(node)
    return needs


def cycles(needs: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules that need each other (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(needs[name] - {name}):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = set()
            while name not in group:
                group.add(stack.pop())
            if len(group) > 1:
                groups.append(group)

    for name in needs:
        if name not in index:
            visit(name)
    return groups


def test_there_is_no_import_cycle() -> None:
    assert cycles(edges()) == []


def test_cycles_are_seen() -> None:
    needs = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert cycles(needs) == [{"a", "b", "c"}]


def test_the_package_is_smaller_than_it_was() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES)
    assert lines < MAX_LINES


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=module_name)
def test_packages_are_small(folder: Path) -> None:
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MAX_MODULES

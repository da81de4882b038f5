"""TOML files of recipes: bases, changes such as `section.key=value`, and writing them."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from json import dumps
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Read a TOML file; `kind` is the noun used in messages ("recipe")."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {kind} {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def read_recipe_file(
    path: Path, kind: str = "recipe", above: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """Read a recipe with its `base`, and the base's base: tables merge key by key.

    Published numbers (`paper`) are not inherited, since they are about one recipe. `above` are the
    recipes that led to this one by their `base`.
    """
    tables = read_toml(path, kind)
    base = tables.pop("base", None)
    if base is None or "sweep" in tables:
        return tables if base is None else {**tables, "base": base}
    if not isinstance(base, str):
        raise ConfigError(f"{path}: base = {base!r}: the path of another recipe is expected")
    chain = (*above, path.resolve())
    parent = path.parent / base
    if parent.resolve() in chain:
        names = " -> ".join(each.name for each in (*chain, parent.resolve()))
        raise ConfigError(f"{path}: base = {base!r} makes a cycle: {names}; remove one of them")
    inherited = read_recipe_file(parent, f"the base of {path},", chain)
    if "sweep" in inherited:
        raise ConfigError(f"{path}: base = {base!r} is a sweep, not a recipe")
    inherited.pop("paper", None)
    also = inherited.get("also")
    for condition in also.values() if isinstance(also, dict) else ():
        if isinstance(condition, dict):
            condition.pop("paper", None)
    return _merge(inherited, tables)


def _merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the keys of `changes` in place of its own, table by table."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merge(old, value) if both else value  # type: ignore[arg-type]
    return merged


def parse_change(text: str, flag: str = "--set") -> tuple[str, Any]:
    """Split `section.key=value` into key and value, a string where it is not valid TOML."""
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals or not is_key(key):
        raise ConfigError(f"{flag} takes section.key=value, got {text!r}")
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written.strip()  # a bare word is a string: --set model.name=bag
    return key, value


def is_key(text: str) -> bool:
    """Whether the text is a key with its section, such as `model.name`."""
    parts = text.split(".")
    return len(parts) > 1 and all(parts)


def put(tables: dict[str, Any], key: str, value: object, where: str) -> None:
    """Change one key, such as `model.name`, in nested tables; `where` is used in messages."""
    *sections, last = key.split(".")
    table = tables
    for part in sections:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{where}: {part} is not a section")
    table[last] = value


def flatten(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of nested tables, such as `model.name`, with its value."""
    for key, value in tables.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def to_toml(tables: Mapping[str, Any], prefix: str = "") -> str:
    """Write tables as TOML; a setting that is None is left out, since that is its default."""
    plain = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    lines = [
        f"{_key(key)} = {dumps(v, ensure_ascii=False)}" for key, v in plain.items() if v is not None
    ]
    parts = ["\n".join([*([f"[{prefix}]"] if prefix else []), *lines])] if lines else []
    for key, value in tables.items():
        if isinstance(value, Mapping):
            parts.append(to_toml(value, f"{prefix}.{_key(key)}" if prefix else _key(key)))
    return "\n\n".join(filter(None, parts))


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else dumps(key, ensure_ascii=False)

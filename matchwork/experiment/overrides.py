"""TOML files, and changes to what they say: `section.key=value`."""

import tomllib
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The tables of a file; `kind` is what it should be ("recipe")."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {kind} {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def parse_change(text: str, flag: str = "--set") -> tuple[str, Any]:
    """The key and the value of `section.key=value`."""
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
    """Whether it names a key of a section."""
    parts = text.split(".")
    return len(parts) > 1 and all(parts)


def put(tables: dict[str, Any], key: str, value: object, said: str) -> None:
    """Change one key, such as `model.name`; `said` is how the change was asked for."""
    *sections, last = key.split(".")
    table = tables
    for part in sections:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{said}: {part} is not a section")
    table[last] = value

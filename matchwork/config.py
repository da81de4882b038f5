"""Settings as dataclasses: one definition for constructor, recipe, JSON and docs."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

from matchwork.errors import ConfigError
from matchwork.registry import did_you_mean

T = TypeVar("T")


def build(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build a settings dataclass from a plain table; `where` names the table in errors."""
    from pydantic import TypeAdapter, ValidationError

    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; {did_you_mean(key, known)}")
        if isinstance(value, float) and not isfinite(value):
            raise ConfigError(f"{where}: {key} = {value}: must be a finite number")
    try:
        hints = get_type_hints(cls)
        spelled = {  # `precision = 32` means "32" where the choices are strings
            key: str(value) if str(value) in get_args(hints[key]) else value
            for key, value in values.items()
        }
        return TypeAdapter(cls).validate_python(spelled)
    except ConfigError as error:  # from a check in the dataclass, which does not know `where`
        raise ConfigError(f"{where}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            raise ConfigError(f"{where}: key {key!r} is missing") from error
        raise ConfigError(f"{where}: {key or 'value'} = {first['input']!r}: {message}") from error


def to_table(settings: object) -> dict[str, Any]:
    """Return settings as plain JSON values, from which `build` makes them again."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in asdict(settings).items()  # type: ignore[call-overload]
    }

"""Settings as dataclasses: one definition for constructor, recipe, JSON and docs."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

from matchwork.errors import ConfigError
from matchwork.registry import did_you_mean

T = TypeVar("T")


def build(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build a settings dataclass from a plain table.

    Args:
        cls: The dataclass.
        values: The table; keys left out have their defaults.
        where: Name of the table in messages ("recipe section [train]").

    Raises:
        ConfigError: If a key is unknown or missing, or a value has the wrong type.
    """
    from pydantic import TypeAdapter, ValidationError

    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; {did_you_mean(key, known)}")
        if isinstance(value, float) and not isfinite(value):
            raise ConfigError(f"{where}: {key} = {value}: must be a finite number")
    try:
        return TypeAdapter(cls).validate_python(_spelled(cls, values))
    except ConfigError as error:  # from a check in the dataclass, which does not know `where`
        raise ConfigError(f"{where}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            raise ConfigError(f"{where}: key {key!r} is missing") from error
        raise ConfigError(f"{where}: {key or 'value'} = {first['input']!r}: {message}") from error


def _spelled(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Turn numbers into strings where these are choices: `precision = 32` means "32"."""
    hints = get_type_hints(cls)
    return {
        key: str(value) if str(value) in get_args(hints[key]) else value
        for key, value in values.items()
    }


def to_table(settings: object) -> dict[str, Any]:
    """Return settings as plain JSON values, from which `build` makes them again."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in asdict(settings).items()  # type: ignore[call-overload]
    }


def require_at_least(settings: object, least: int, *names: str) -> None:
    """Raise a ConfigError if one of these settings is below `least`; None is allowed."""
    rule = f"must be at least {least}" if least else "must not be negative"
    _require(settings, names, lambda value: value >= least, rule)


def require_positive(settings: object, *names: str) -> None:
    """Raise a ConfigError if one of these settings is not above 0; None is allowed."""
    _require(settings, names, lambda value: value > 0, "must be positive")


def require_dropout(settings: object, *names: str) -> None:
    """Raise a ConfigError if one of these settings is not in [0, 1)."""
    _require(settings, names, lambda value: 0 <= value < 1, "must be at least 0 and below 1")


def _require(
    settings: object, names: tuple[str, ...], holds: Callable[[float], bool], rule: str
) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and not holds(value):
            raise ConfigError(f"{name} {rule}, got {value}")

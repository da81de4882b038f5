"""Every error we raise on purpose: what was wrong, the value, the remedy.

`exit_code` is what the command line returns: 2 when the caller asked for something
impossible (a bad recipe, an unknown name), 1 when the work itself failed.
"""

from pathlib import Path


class MatchworkError(Exception):
    """Base of all errors that are part of the interface."""

    exit_code = 1


class ConfigError(MatchworkError):
    """A setting is unknown, of the wrong type or out of range."""

    exit_code = 2


class UnknownNameError(ConfigError):
    """A name is not in its registry; the message suggests the nearest one."""


class MissingExtraError(MatchworkError):
    """An optional package is not installed; the message holds the install line."""

    exit_code = 2

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'matchwork[{extra}]'")


class DataError(MatchworkError):
    """Input text, labels or files are not what they should be."""

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        where = [str(path)] if path is not None else []
        if line is not None:
            where.append(f"line {line}")
        if column is not None:
            where.append(f"column {column!r}")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)
        self.path, self.line, self.column = path, line, column


class FolderError(MatchworkError):
    """A matcher folder is incomplete, damaged or from a newer version."""


class OutputError(MatchworkError):
    """A file could not be written; nothing half-written is left behind."""


class TrainingError(MatchworkError):
    """Training cannot go on (a loss that is not finite, no usable samples)."""

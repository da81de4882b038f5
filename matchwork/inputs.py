"""Checks of the texts and settings that callers give, and a record of how much was cut off."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, get_args, get_type_hints

import numpy as np

from matchwork.errors import ConfigError, DataError
from matchwork.types import Document


def as_documents(documents: Iterable[str | Document]) -> list[Document]:
    """Return `Document`s; a plain text gets its position as its id."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise DataError(f"documents must be a list of texts, got {documents!r}")
    return [_as_document(index, document) for index, document in enumerate(documents)]


def _as_document(index: int, document: str | Document) -> Document:
    if isinstance(document, Document):
        return document
    if not isinstance(document, str):
        raise DataError(f"documents[{index}] is not a text: {document!r}; leave it out")
    return Document(str(index), document)


def require_pairs(pairs: Iterable[object]) -> None:
    """Raise a `DataError` unless every item is a pair of texts."""
    for index, pair in enumerate(pairs):
        if (
            not isinstance(pair, tuple | list | np.ndarray)
            or len(pair) != 2
            or not all(isinstance(text, str) for text in pair)
        ):
            raise DataError(f"pairs[{index}] is not two texts: {pair!r}")


class Truncation(NamedTuple):
    """Number of texts that the length limits cut, and of tokens that were lost."""

    texts: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        texts = "1 text was" if self.texts == 1 else f"{self.texts:,} texts were"
        tokens = "1 token" if self.tokens == 1 else f"{self.tokens:,} tokens"
        return f"{texts} too long and lost {tokens}"


class TruncationRecord:
    """Sum over the calls of a `recorded_truncation` block."""

    total = Truncation()


_record: ContextVar[TruncationRecord | None] = ContextVar("truncation", default=None)


@contextmanager
def recorded_truncation() -> Iterator[TruncationRecord]:
    """Record what matchers cut inside the block, in this thread.

    Equal texts, and equal pairs, of one call count once.
    """
    record = TruncationRecord()
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def report_truncation(texts: int, tokens: int) -> None:
    """Add to the record of the enclosing `recorded_truncation` block, if there is one."""
    record = _record.get()
    if record is not None and texts:
        record.total = Truncation(record.total.texts + texts, record.total.tokens + tokens)


def require_choice(settings: object, *names: str) -> None:
    """Raise a ConfigError if one of these settings is not a value of its Literal type."""
    for name in names:
        known = get_args(get_type_hints(type(settings))[name])
        if getattr(settings, name) not in known:
            choices = ", ".join(f'"{choice}"' for choice in known)
            raise ConfigError(f"{name} must be one of {choices}, got {getattr(settings, name)!r}")


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

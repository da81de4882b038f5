"""How much text the length limits cut off."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Truncation(NamedTuple):
    """How many texts the length limits cut, and how many tokens they lost."""

    texts: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        texts = "1 text was" if self.texts == 1 else f"{self.texts:,} texts were"
        tokens = "1 token" if self.tokens == 1 else f"{self.tokens:,} tokens"
        return f"{texts} too long and lost {tokens}"


@dataclass
class TruncationRecord:
    """Sum over the calls of a `recorded_truncation` block."""

    total: Truncation = field(default_factory=Truncation)

    def add(self, more: Truncation) -> None:
        """Add what one call cut."""
        self.total = Truncation(self.total.texts + more.texts, self.total.tokens + more.tokens)


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
        record.add(Truncation(texts, tokens))

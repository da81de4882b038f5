"""One registry for everything that has a name in a recipe, with "did you mean"."""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from matchwork.errors import UnknownNameError
from matchwork.plugins import load_entry_points

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the tail of an error message: the nearest known name, or all of them."""
    names = sorted(known)
    lowered = {candidate.lower(): candidate for candidate in names}
    close = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"


class Registry(Generic[T]):
    """Names for objects of one kind; plugins are loaded when a name is unknown.

    Args:
        kind: The noun used in messages ("model", "loss").
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Register `entry` under `name`, which must be free."""
        if name in self._entries:
            raise ValueError(f"{self.kind} {name!r} is already registered")
        self._entries[name] = entry

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that adds what it decorates under `name`."""

        def enter(entry: T) -> T:
            self.add(name, entry)
            return entry

        return enter

    def check(self, name: str) -> None:
        """Raise an `UnknownNameError` unless there is an entry of this name."""
        if name not in self:
            hint = did_you_mean(name, self._entries)
            raise UnknownNameError(f"no {self.kind} named {name!r}; {hint}")

    def __getitem__(self, name: str) -> T:
        self.check(name)
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            load_entry_points()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        load_entry_points()
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        load_entry_points()
        return len(self._entries)

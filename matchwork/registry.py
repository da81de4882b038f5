"""One registry for everything that has a name in a recipe, with "did you mean"."""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from matchwork.errors import UnknownNameError

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The tail of an error message: the nearest known name, or all of them."""
    names = sorted(known)
    lowered = {candidate.lower(): candidate for candidate in names}
    close = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lowered[close[0]]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"


class Registry(Generic[T]):
    """Names for objects of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Enter `entry`; a name can be taken only once."""
        if name in self._entries:
            raise ValueError(f"{self.kind} {name!r} is already registered")
        self._entries[name] = entry

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator form of `add`."""

        def enter(entry: T) -> T:
            self.add(name, entry)
            return entry

        return enter

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            hint = did_you_mean(name, self._entries)
            raise UnknownNameError(f"no {self.kind} named {name!r}; {hint}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

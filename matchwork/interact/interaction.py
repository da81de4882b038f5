"""What a model saw between two texts, in a form that can be explained."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

from torch import Tensor

Side: TypeAlias = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class Interaction:
    """A table of query words (rows) by document words (columns) with its mask.

    With a `phrase_length` above 1, rows and columns stand for the phrases of that many words
    that start there; the end of a text cuts them off.
    """

    values: Tensor
    mask: Tensor
    phrase_length: int = 1

    def __post_init__(self) -> None:
        if self.values.shape != self.mask.shape or self.values.ndim != 3:
            raise ValueError(
                f"an interaction is (batch, query, document) with an equal mask, got "
                f"{tuple(self.values.shape)} and {tuple(self.mask.shape)}"
            )


@dataclass(frozen=True, slots=True)
class WordWeights:
    """One number per word of one side, shape (batch, length), with its mask."""

    values: Tensor
    mask: Tensor
    side: Side

    def __post_init__(self) -> None:
        if self.values.shape != self.mask.shape or self.values.ndim != 2:
            raise ValueError(
                f"word weights are (batch, length) with an equal mask, got "
                f"{tuple(self.values.shape)} and {tuple(self.mask.shape)}"
            )


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes of one side's words, shape (batch, length, bits), with the words' mask.

    `before` and `after`, shape (batch, length, dim), are the vectors that were hashed and what is
    restored from their codes. The mask is applied to all three here.
    """

    values: Tensor
    mask: Tensor
    side: Side
    before: Tensor
    after: Tensor

    def __post_init__(self) -> None:
        padding = ~self.mask.unsqueeze(-1)
        for name in ("values", "before", "after"):
            values = getattr(self, name)
            if values.ndim != 3 or values.shape[:2] != self.mask.shape:
                raise ValueError(
                    f"codes are (batch, length, width) with a mask (batch, length), got "
                    f"{tuple(values.shape)} and {tuple(self.mask.shape)}"
                )
            object.__setattr__(self, name, values.masked_fill(padding, 0.0))


Evidence: TypeAlias = Interaction | WordWeights | Codes
Value = TypeVar("Value")


class LazyMapping(Mapping[str, Value]):
    """Values that are made when somebody looks: training and ranking never do."""

    def __init__(self, make: Callable[[], Mapping[str, Value]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, Value]:
        return self._make()

    def __getitem__(self, name: str) -> Value:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


LazyEvidence: TypeAlias = LazyMapping[Evidence]

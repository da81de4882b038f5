"""Evidence: what a model computed between two texts, in a form that can be shown."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

from torch import Tensor

from matchwork.types import Side


@dataclass(frozen=True, slots=True)
class Interaction:
    """A table of query words by document words: `values` and `mask` (batch, query, document).

    With a `phrase_length` above 1, rows and columns stand for phrases of that many words that
    start there (fewer at the end of a text).
    """

    values: Tensor
    mask: Tensor
    phrase_length: int = 1

    def __post_init__(self) -> None:
        _check("an interaction is (batch, query, document)", self.values, self.mask, 3)


@dataclass(frozen=True, slots=True)
class WordWeights:
    """One number per word of one side; `values` and `mask` have shape (batch, length)."""

    values: Tensor
    mask: Tensor
    side: Side

    def __post_init__(self) -> None:
        _check("word weights are (batch, length)", self.values, self.mask, 2)


@dataclass(frozen=True, slots=True)
class Codes:
    """Hash codes of one side's words; padding is set to 0 in all three tensors.

    Attributes:
        values: Codes, shape (batch, length, bits).
        mask: Shape (batch, length).
        side: Whose words these are.
        before: Vectors that were hashed, shape (batch, length, dim).
        after: Vectors restored from the codes, same shape.
    """

    values: Tensor
    mask: Tensor
    side: Side
    before: Tensor
    after: Tensor

    def __post_init__(self) -> None:
        for name in ("values", "before", "after"):
            values = getattr(self, name)
            mask = self.mask.unsqueeze(-1).expand(-1, -1, values.shape[-1])
            _check("codes are (batch, length, width)", values, mask, 3)
            object.__setattr__(self, name, values.masked_fill(~mask, 0.0))


def _check(what: str, values: Tensor, mask: Tensor, ndim: int) -> None:
    if values.shape != mask.shape or values.ndim != ndim:
        shapes = f"{tuple(values.shape)} and {tuple(mask.shape)}"
        raise ValueError(f"{what} with an equal mask, got {shapes}")


Evidence: TypeAlias = Interaction | WordWeights | Codes
Value = TypeVar("Value")


class LazyMapping(Mapping[str, Value]):
    """A mapping computed on first access, so that training and ranking never pay for it."""

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

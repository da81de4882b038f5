"""What a model saw between two texts, in a form that can be explained."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Interaction:
    """A table of query words (rows) by document words (columns) with its mask."""

    values: Tensor
    mask: Tensor

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
    side: Literal["query", "document"]

    def __post_init__(self) -> None:
        if self.values.shape != self.mask.shape or self.values.ndim != 2:
            raise ValueError(
                f"word weights are (batch, length) with an equal mask, got "
                f"{tuple(self.values.shape)} and {tuple(self.mask.shape)}"
            )


Evidence: TypeAlias = Interaction | WordWeights

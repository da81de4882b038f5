"""The contract between tokens and models: vectors that carry their mask."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.errors import ConfigError
from matchwork.registry import Registry
from matchwork.text import Sequences


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token vectors, shape (batch, length, dim), and a bool mask: True = real token.

    Padding rows are zero: whatever vectors come in, the mask is applied to them here. `ids`
    name the words behind the vectors, shape (batch, length), where there is one word per vector.
    `frame` are the vectors of special tokens around the text ([CLS], [SEP]), shape
    (batch, specials, dim), where the encoder has any.
    """

    vectors: Tensor
    mask: Tensor
    ids: Tensor | None = None
    frame: Tensor | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 3 or self.vectors.shape[:2] != self.mask.shape:
            raise ValueError(
                f"vectors have shape {tuple(self.vectors.shape)}, their mask "
                f"{tuple(self.mask.shape)}; expected (batch, length, dim) and (batch, length)"
            )
        if self.mask.dtype != torch.bool:
            raise TypeError(f"a mask is bool (True = real token), got {self.mask.dtype}")
        if self.ids is not None and self.ids.shape != self.mask.shape:
            raise ValueError(
                f"ids have shape {tuple(self.ids.shape)}, their mask {tuple(self.mask.shape)}"
            )
        # where, not multiplication: garbage in padding may be infinite or NaN.
        cleaned = self.vectors.masked_fill(~self.mask.unsqueeze(-1), 0.0)
        object.__setattr__(self, "vectors", cleaned)

    def __len__(self) -> int:
        return self.vectors.shape[0]

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self.vectors.shape[-1]

    def repeat_each(self, times: int) -> "Encoded":
        """Every row `times` times in a row: a, a, b, b."""
        if times == 1:
            return self
        return self._each(lambda part: part.repeat_interleave(times, 0))

    def tile(self, times: int) -> "Encoded":
        """The whole batch `times` times: a, b, a, b."""
        if times == 1:
            return self
        return self._each(lambda part: part.repeat(times, *(1,) * (part.ndim - 1)))

    def take(self, rows: Tensor) -> "Encoded":
        """The rows of these numbers, in their order, as often as they are named."""
        return self._each(lambda part: part[rows])

    def cut(self, length: int) -> "Encoded":
        """The same texts without what stands past `length` tokens."""
        ids = None if self.ids is None else self.ids[:, :length]
        return Encoded(self.vectors[:, :length], self.mask[:, :length], ids, self.frame)

    @staticmethod
    def concatenate(parts: "Sequence[Encoded]") -> "Encoded":
        """The texts of all parts, one part after the other, padded to the longest."""
        length = max(part.mask.shape[1] for part in parts)

        def pad(values: list[Tensor]) -> Tensor:
            ends = [(0,) * (2 * value.ndim - 3) + (length - value.shape[1],) for value in values]
            pairs = zip(values, ends, strict=True)
            return torch.cat([nn.functional.pad(value, end) for value, end in pairs])

        ids = [part.ids for part in parts if part.ids is not None]
        frames = [part.frame for part in parts if part.frame is not None]
        return Encoded(
            pad([part.vectors for part in parts]),
            pad([part.mask for part in parts]),
            pad(ids) if ids else None,
            torch.cat(frames) if frames else None,
        )

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Encoded":
        """The same change of all that there is."""
        return Encoded(
            change(self.vectors),
            change(self.mask),
            None if self.ids is None else change(self.ids),
            None if self.frame is None else change(self.frame),
        )


class Joined(NamedTuple):
    """Two texts read as one: the vector of the first piece ([CLS]), and those of either text."""

    first: Tensor
    query: Encoded
    document: Encoded


class Encoder(nn.Module, ABC):
    """Sequences in, `Encoded` out; `dim` is the width of its vectors."""

    Config: ClassVar[type[Any]]
    kind: ClassVar[str]
    config: Any

    @property
    @abstractmethod
    def dim(self) -> int:
        """Width of the vectors."""

    @abstractmethod
    def forward(self, sequences: Sequences) -> Encoded:
        """One vector per token."""

    @property
    def joint(self) -> bool:
        """Whether two texts that are matched are read as one, by `join`."""
        return False

    @property
    def pair_room(self) -> int | None:
        """Most tokens of two texts that are read as one; None: any number."""
        return None

    def join(self, query: Sequences, document: Sequences) -> Joined:
        """Both texts at once: each sees the other."""
        raise ConfigError(
            f"vectors of kind {self.kind!r} are made of one text; a transformer reads two at once"
        )

    def frozen_names(self) -> set[str]:
        """Entries of the state that training never changes, so a checkpoint can skip them."""
        return set()

    def layers(self) -> list[nn.Module]:
        """Layers that build on each other, from the input on, where there are any."""
        return []


ENCODERS: Registry[type[Encoder]] = Registry("encoder")

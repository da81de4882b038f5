"""The contract of encoders: token vectors that carry their mask."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from matchwork.errors import ConfigError
from matchwork.registry import Registry
from matchwork.text import Sequences
from matchwork.text.batch import check_mask


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token vectors and their mask; vectors of padding are set to zero.

    Args:
        vectors: Tensor, shape (batch, length, dim).
        mask: Bool tensor, shape (batch, length): True = real token.
        ids: Ids of the words, shape (batch, length), if every vector is one word's.
        special_vectors: Vectors of special tokens ([CLS], [SEP]), shape (batch, specials, dim).
    """

    vectors: Tensor
    mask: Tensor
    ids: Tensor | None = None
    special_vectors: Tensor | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 3 or self.vectors.shape[:2] != self.mask.shape:
            raise ValueError(
                f"vectors have shape {tuple(self.vectors.shape)}, their mask "
                f"{tuple(self.mask.shape)}; expected (batch, length, dim) and (batch, length)"
            )
        check_mask(self.ids, self.mask)
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
        """Repeat every text `times` times: a, a, b, b."""
        return self if times == 1 else self._each(lambda part: part.repeat_interleave(times, 0))

    def tile(self, times: int) -> "Encoded":
        """Repeat the whole batch `times` times: a, b, a, b."""
        if times == 1:
            return self
        return self._each(lambda part: part.repeat(times, *(1,) * (part.ndim - 1)))

    def take(self, rows: Tensor) -> "Encoded":
        """Return the texts at the indices `rows`, shape (n,), in that order."""
        return self._each(lambda part: part[rows])

    def cut(self, length: int) -> "Encoded":
        """Keep the first `length` tokens of every text."""
        ids = None if self.ids is None else self.ids[:, :length]
        return Encoded(self.vectors[:, :length], self.mask[:, :length], ids, self.special_vectors)

    @staticmethod
    def concatenate(parts: "Sequence[Encoded]") -> "Encoded":
        """Join batches into one, padded to the longest text."""
        length = max(part.mask.shape[1] for part in parts)

        def pad(values: list[Tensor]) -> Tensor:
            ends = [(0,) * (2 * value.ndim - 3) + (length - value.shape[1],) for value in values]
            pairs = zip(values, ends, strict=True)
            return torch.cat([nn.functional.pad(value, end) for value, end in pairs])

        ids = [part.ids for part in parts if part.ids is not None]
        specials = [part.special_vectors for part in parts if part.special_vectors is not None]
        return Encoded(
            pad([part.vectors for part in parts]),
            pad([part.mask for part in parts]),
            pad(ids) if ids else None,
            torch.cat(specials) if specials else None,
        )

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Encoded":
        """Apply `change` to every tensor."""
        parts = (self.ids, self.special_vectors)
        optional = (None if part is None else change(part) for part in parts)
        return Encoded(change(self.vectors), change(self.mask), *optional)


class EncodedPair(NamedTuple):
    """Two texts encoded as one: the first token's vector ([CLS]) and those of either text."""

    first: Tensor  # (batch, dim)
    query: Encoded
    document: Encoded


class Encoder(nn.Module, ABC):
    """Base class of encoders: token ids in, one vector per token out.

    Subclasses name themselves (`kind`, their key in `ENCODERS`) and their settings (`Config`).
    With `cross_encode`, models get vectors of both texts read as one, by `encode_pair`.
    """

    Config: ClassVar[type[Any]]
    kind: ClassVar[str]
    config: Any
    cross_encode: bool = False

    @property
    @abstractmethod
    def dim(self) -> int:
        """Width of the vectors."""

    @abstractmethod
    def forward(self, sequences: Sequences) -> Encoded:
        """Encode a batch of texts, each by itself."""

    @property
    def max_pair_tokens(self) -> int | None:
        """Most tokens of two texts read as one, without special tokens; None: no limit."""
        return None

    def encode_pair(self, query: Sequences, document: Sequences) -> EncodedPair:
        """Encode query and document as one text, so that each sees the other."""
        raise ConfigError(
            f"an encoder of kind {self.kind!r} reads one text at a time; use a transformer to "
            "read two as one"
        )

    def frozen_names(self) -> set[str]:
        """Return the keys of the state dict that training never changes."""
        return set()

    def layers(self) -> list[nn.Module]:
        """Return the stacked layers, from the input on; empty if there are none."""
        return []


ENCODERS: Registry[type[Encoder]] = Registry("encoder")

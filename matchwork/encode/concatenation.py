"""Several texts concatenated into one: the input of a transformer."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from matchwork.text import Sequences

Part: TypeAlias = Sequences | tuple[int, ...]
"""A batch of texts, or special ids that are the same in all rows."""


class ConcatenatedTexts(NamedTuple):
    """Texts of several parts, padded at the end; `positions` holds where each part's tokens are."""

    ids: Tensor
    mask: Tensor
    positions: list[Tensor]

    @classmethod
    def of(cls, parts: Sequence[Part], padding: int) -> "ConcatenatedTexts":
        """Concatenate the real tokens of all parts, row by row; one part at least is a batch."""
        example = next(part for part in parts if isinstance(part, Sequences))
        texts = [_repeat(part, example) if isinstance(part, tuple) else part for part in parts]
        positions, end = [], example.ids.new_zeros(len(example), 1)
        for text in texts:
            positions.append(end + torch.arange(text.ids.shape[1], device=end.device))
            end = end + text.lengths.unsqueeze(1)
        width = max(1, int(end.max())) if len(example) else 1
        ids = example.ids.new_full((len(example), width + 1), padding)
        for text, position in zip(texts, positions, strict=True):
            ids.scatter_(1, position.masked_fill(~text.mask, width), text.ids)
        mask = torch.arange(width, device=end.device) < end
        return cls(ids[:, :width], mask, positions)

    def take(self, vectors: Tensor, part: int) -> Tensor:
        """Return the vectors of one part, given those of the whole; padding's are arbitrary."""
        positions = self.positions[part].clamp_max(vectors.shape[1] - 1)
        return vectors.gather(1, positions.unsqueeze(-1).expand(-1, -1, vectors.shape[2]))


def longest_first(query: Tensor, document: Tensor, max_tokens: int) -> tuple[Tensor, Tensor]:
    """Truncate the lengths of pairs to `max_tokens`: the longer text first, then both to half."""
    half = max_tokens // 2
    query_limit = torch.where(
        query <= document,
        (max_tokens - document).clamp_min(half),
        max_tokens - document.clamp_max(half),
    )
    query = torch.minimum(query, query_limit)
    return query, torch.minimum(document, max_tokens - query)


def _repeat(ids: tuple[int, ...], example: Sequences) -> Sequences:
    """Return the same ids in every row of a batch."""
    row = torch.tensor(ids, dtype=example.ids.dtype, device=example.ids.device)
    rows = row.expand(len(example), -1)
    return Sequences(rows, torch.ones_like(rows, dtype=torch.bool))

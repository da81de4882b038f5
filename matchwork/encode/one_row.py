"""Several parts laid out in one row: what a transformer reads at once."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from matchwork.text import Sequences

Part: TypeAlias = Sequences | tuple[int, ...]
"""A text of every row, or ids that are the same in all rows."""


class OneRow(NamedTuple):
    """Parts one after another, shape (batch, width), with padding behind the last one only."""

    ids: Tensor
    mask: Tensor
    places: list[Tensor]  # of every part, (batch, its own width)

    @classmethod
    def of(cls, parts: Sequence[Part], padding: int) -> "OneRow":
        """Lay out the real tokens of all parts; `padding` is the id behind them."""
        example = next(part for part in parts if isinstance(part, Sequences))
        texts = [_in_all_rows(part, example) if isinstance(part, tuple) else part for part in parts]
        places, end = [], example.ids.new_zeros(len(example), 1)
        for text in texts:
            places.append(end + torch.arange(text.ids.shape[1], device=end.device))
            end = end + text.lengths.unsqueeze(1)
        width = max(1, int(end.max())) if len(example) else 1
        ids = example.ids.new_full((len(example), width + 1), padding)
        for text, place in zip(texts, places, strict=True):
            ids.scatter_(1, place.masked_fill(~text.mask, width), text.ids)
        mask = torch.arange(width, device=end.device) < end
        return cls(ids[:, :width], mask, places)

    def take(self, vectors: Tensor, part: int) -> Tensor:
        """The vectors of one part, from those of the whole row; anything behind its end."""
        places = self.places[part].clamp_max(vectors.shape[1] - 1)
        return vectors.gather(1, places.unsqueeze(-1).expand(-1, -1, vectors.shape[2]))


def longest_first(query: Tensor, document: Tensor, room: int) -> tuple[Tensor, Tensor]:
    """Lengths of two texts cut to `room` in all: the longer one first, then both by halves."""
    half = room // 2
    for_query = torch.where(
        query <= document, (room - document).clamp_min(half), room - document.clamp_max(half)
    )
    query = torch.minimum(query, for_query)
    return query, torch.minimum(document, room - query)


def _in_all_rows(ids: tuple[int, ...], example: Sequences) -> Sequences:
    row = torch.tensor(ids, dtype=example.ids.dtype, device=example.ids.device)
    rows = row.expand(len(example), -1)
    return Sequences(rows, torch.ones_like(rows, dtype=torch.bool))

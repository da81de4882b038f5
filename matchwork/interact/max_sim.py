"""MaxSim: the sum over query tokens of their largest cosine with any document token."""

from typing import NamedTuple

import torch
from torch import Tensor

from matchwork.interact.similarity import cosine_table

_LEAST = -1.0  # smallest cosine


class MaxSim(NamedTuple):
    """The result of `max_sim`; `table`, `positions` and `alignment` are computed when read."""

    scores: Tensor  # sums of `values`, (batch,)
    values: Tensor  # largest cosine of each query token, (batch, query)
    nearest: Tensor  # position of that document token, (batch, query); any number at padding
    cosines: Tensor  # (batch, query, document), padding included
    query_mask: Tensor  # (batch, query)
    document_mask: Tensor  # (batch, document)

    @property
    def mask(self) -> Tensor:
        """True where both tokens are real, shape (batch, query, document)."""
        return self.query_mask.unsqueeze(-1) & self.document_mask.unsqueeze(-2)

    @property
    def table(self) -> Tensor:
        """All cosines, shape (batch, query, document); 0 at padding."""
        return self.cosines.masked_fill(~self.mask, 0.0)

    @property
    def positions(self) -> Tensor:
        """Position of the best document token, shape (batch, query); -1 where there is none."""
        answered = self.query_mask & self.document_mask.any(dim=-1, keepdim=True)
        return self.nearest.masked_fill(~answered, -1)

    def alignment(self) -> Tensor:
        """Return the table with all but the largest cosine of every query token set to 0.

        It adds up to the score, unless the document has no tokens.
        """
        values = self.values.masked_fill(self.positions < 0, 0.0).unsqueeze(-1)
        return torch.zeros_like(self.cosines).scatter(-1, self.nearest.unsqueeze(-1), values)


def max_sim(query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor) -> MaxSim:
    """Return, for every pair, the sum of each query token's largest cosine with the document.

    Padding is left out of the maximum; setting it to 0 would beat negative cosines. A document
    without tokens gives every query token -1, the smallest cosine. Vectors have shape
    (batch, tokens, dim), masks (batch, tokens).
    """
    cosines = cosine_table(query, document)
    padding_loses = cosines.masked_fill(~document_mask.unsqueeze(-2), 2 * _LEAST)
    values, nearest = padding_loses.max(dim=-1)
    values = values.clamp_min(_LEAST).masked_fill(~query_mask, 0.0)
    return MaxSim(values.sum(dim=-1), values, nearest, cosines, query_mask, document_mask)

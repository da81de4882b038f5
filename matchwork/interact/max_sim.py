"""MaxSim: every query token is answered by the document token most like it."""

from typing import NamedTuple

import torch
from torch import Tensor

from matchwork.interact.similarity import cosine_table

_LEAST = -1.0  # that a cosine can be


class MaxSim(NamedTuple):
    """Scores (batch,), sums of the values (batch, query) of each query token's best cosine.

    `cosines` and `nearest` are of padding, too; what is read from them, `table` and `places`, is
    made when it is asked for.
    """

    scores: Tensor
    values: Tensor
    nearest: Tensor
    cosines: Tensor
    query_mask: Tensor
    document_mask: Tensor

    @property
    def mask(self) -> Tensor:
        """Which cosines are between tokens, (batch, query, document)."""
        return self.query_mask.unsqueeze(-1) & self.document_mask.unsqueeze(-2)

    @property
    def table(self) -> Tensor:
        """All cosines, (batch, query, document); 0 where one is not between tokens."""
        return self.cosines.masked_fill(~self.mask, 0.0)

    @property
    def places(self) -> Tensor:
        """Which document token is the best, (batch, query); -1 where there is none."""
        answered = self.query_mask & self.document_mask.any(dim=-1, keepdim=True)
        return self.nearest.masked_fill(~answered, -1)

    def alignment(self) -> Tensor:
        """The table with nothing but the best cosine of every query token.

        It adds up to the score, unless the document has no tokens.
        """
        values = self.values.masked_fill(self.places < 0, 0.0).unsqueeze(-1)
        return torch.zeros_like(self.cosines).scatter(-1, self.nearest.unsqueeze(-1), values)


def max_sim(query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor) -> MaxSim:
    """Sum over query tokens of the largest cosine with any document token.

    Vectors are (batch, tokens, dim), masks (batch, tokens). Padding is left out of the maximum,
    not set to 0, which would beat the cosines of texts that have nothing in common. A document
    without tokens answers every query token with -1, the least that there is.
    """
    cosines = cosine_table(query, document)
    padding_loses = cosines.masked_fill(~document_mask.unsqueeze(-2), 2 * _LEAST)
    values, nearest = padding_loses.max(dim=-1)
    values = values.clamp_min(_LEAST).masked_fill(~query_mask, 0.0)
    return MaxSim(values.sum(dim=-1), values, nearest, cosines, query_mask, document_mask)

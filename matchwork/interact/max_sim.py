"""MaxSim: every query token is answered by the document token most like it."""

from typing import NamedTuple

import torch
from torch import Tensor

from matchwork.interact.masked import masked_best
from matchwork.interact.similarity import cosine_table


class MaxSim(NamedTuple):
    """Scores (batch,), sums of the values (batch, query) of each query token's best cosine.

    `places` says which document token that was, -1 where there is no token; `table` holds all
    cosines, (batch, query, document), 0 where `mask` says that they are not between tokens.
    """

    scores: Tensor
    values: Tensor
    places: Tensor
    table: Tensor
    mask: Tensor

    def alignment(self) -> Tensor:
        """The table with nothing but the best cosine of every query token.

        It adds up to the score, unless the document has no tokens.
        """
        places = self.places.unsqueeze(-1).clamp_min(0)
        values = self.values.masked_fill(self.places < 0, 0.0).unsqueeze(-1)
        return torch.zeros_like(self.table).scatter(-1, places, values)


def max_sim(query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor) -> MaxSim:
    """Sum over query tokens of the largest cosine with any document token.

    Vectors are (batch, tokens, dim), masks (batch, tokens). Padding is left out of the maximum,
    not set to 0, which would beat the cosines of texts that have nothing in common. A document
    without tokens answers every query token with -1, the least that there is.
    """
    mask = query_mask.unsqueeze(-1) & document_mask.unsqueeze(-2)
    table = cosine_table(query, document)
    values, places = masked_best(table, mask)
    values = values.masked_fill(query_mask & ~document_mask.any(dim=-1, keepdim=True), -1.0)
    return MaxSim(values.sum(dim=-1), values, places, table.masked_fill(~mask, 0.0), mask)

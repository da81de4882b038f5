"""Texts as sparse tf-idf vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode import Encoded
from matchwork.text import TokenTable, inverse_document_frequency


class WordBag(NamedTuple):
    """Sparse vectors d of norm 1: entry w is the sum of `weights` where `ids` is w."""

    ids: Tensor
    weights: Tensor

    def dot(self, values: Tensor) -> Tensor:
        """Return `d . values`, shape (batch,), for `values` of shape (vocabulary,)."""
        return (values[self.ids] * self.weights).sum(dim=-1)

    def project(self, table: Tensor) -> Tensor:
        """Return `d^T table`, shape (batch, width), for a table of shape (vocabulary, width)."""
        return functional.embedding_bag(
            self.ids, table, mode="sum", per_sample_weights=self.weights.to(table.dtype)
        )


class TfIdf(nn.Module):
    """`tf (log((1 + N) / (1 + df)) + 1)`, scaled to norm 1; without idf until fitted.

    Words with an id of `num_words` or more are ignored.
    """

    idf: Tensor

    def __init__(self, num_words: int) -> None:
        super().__init__()
        self.register_buffer("idf", torch.ones(num_words))

    def fit(self, texts: Sequence[TokenTable]) -> None:
        """Count the document frequency of each word."""
        idf = inverse_document_frequency(TokenTable.join(texts), len(self.idf))
        self.idf = torch.from_numpy(idf).to(self.idf)

    def forward(self, text: Encoded) -> WordBag | None:
        """Return the vectors of texts; None for texts without ids."""
        if text.ids is None:
            return None
        known = text.mask & (text.ids < len(self.idf))
        ids = text.ids.masked_fill(~known, 0)
        weights = self.idf[ids].masked_fill(~known, 0.0)
        # A word's tf is its number of positions, and tf squared its number of pairs of positions.
        same = ids.unsqueeze(1) == ids.unsqueeze(2)
        squares = (weights.unsqueeze(1) * weights.unsqueeze(2) * same).sum(dim=(1, 2))
        length = torch.where(squares > 0, squares, 1.0).sqrt()
        return WordBag(ids, weights / length.unsqueeze(1))

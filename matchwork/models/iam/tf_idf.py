"""Texts as sparse tf-idf vectors: as many entries as the text has words."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from matchwork.encode import Encoded
from matchwork.text import TokenTable, inverse_document_frequency


class WordBag(NamedTuple):
    """Rows of words and what each place adds to the entry of its word, (batch, length).

    The text's vector d has in entry w the sum over the places where `ids` is w; |d| = 1.
    """

    ids: Tensor
    weights: Tensor

    def dot(self, values: Tensor) -> Tensor:
        """`d . values` for one number per word, (batch,)."""
        return (values[self.ids] * self.weights).sum(dim=-1)

    def project(self, table: Tensor) -> Tensor:
        """`d^T table` for a table with a row per word, (batch, width)."""
        return functional.embedding_bag(
            self.ids, table, mode="sum", per_sample_weights=self.weights.to(table.dtype)
        )


class TfIdf(nn.Module):
    """`tf (log((1 + N) / (1 + df)) + 1)`, scaled to length 1; all words alike until it is fitted.

    Words with an id past `num_words` are in no entry.
    """

    idf: Tensor

    def __init__(self, num_words: int) -> None:
        super().__init__()
        self.register_buffer("idf", torch.ones(num_words))

    def fit(self, texts: Sequence[TokenTable]) -> None:
        """Count in how many of these texts each word stands."""
        idf = inverse_document_frequency(TokenTable.join(texts), len(self.idf))
        self.idf = torch.from_numpy(idf).to(self.idf)

    def forward(self, text: Encoded) -> WordBag | None:
        """The vectors of texts; None where nothing says which words they are made of."""
        if text.ids is None:
            return None
        known = text.mask & (text.ids < len(self.idf))
        ids = text.ids.masked_fill(~known, 0)
        weights = self.idf[ids].masked_fill(~known, 0.0)
        # A word's tf is the number of its places, so its square counts all pairs of them.
        same = ids.unsqueeze(1) == ids.unsqueeze(2)
        squares = (weights.unsqueeze(1) * weights.unsqueeze(2) * same).sum(dim=(1, 2))
        length = torch.where(squares > 0, squares, 1.0).sqrt()
        return WordBag(ids, weights / length.unsqueeze(1))

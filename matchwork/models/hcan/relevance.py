"""Relevance matching: how strongly each query phrase matches the document; it has no parameters."""

from typing import Literal, NamedTuple

from torch import Tensor

from matchwork.interact.masked import masked_max, masked_mean, masked_softmax

Competitors = Literal["document", "query"]


class Relevance(NamedTuple):
    """A softmaxed table, its mask (both (..., query, document)) and the maximum of each row."""

    table: Tensor
    mask: Tensor
    largest: Tensor

    @property
    def mean(self) -> Tensor:
        """Mean of every row, shape (..., query)."""
        return masked_mean(self.table, self.mask)


def relevance(query: Tensor, document: Tensor, mask: Tensor, competitors: Competitors) -> Relevance:
    """Return the dot products of phrases (..., query, dim) and (..., document, dim), softmaxed.

    The softmax is over the `competitors`. With "document", the mean of a row is
    1 / (number of document words) for any text.
    """
    table = masked_softmax(query @ document.mT, mask, dim=-1 if competitors == "document" else -2)
    return Relevance(table, mask, masked_max(table, mask))

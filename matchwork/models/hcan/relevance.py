"""Relevance matching: how strongly each query phrase is found in the document; no parameters."""

from typing import Literal, NamedTuple

from torch import Tensor

from matchwork.interact.masked import masked_max, masked_mean, masked_softmax

Competitors = Literal["document", "query"]


class Relevance(NamedTuple):
    """A softmaxed table, (..., query, document), and its rows' largest value."""

    table: Tensor
    mask: Tensor
    largest: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean of every row."""
        return masked_mean(self.table, self.mask)


def relevance(query: Tensor, document: Tensor, mask: Tensor, competitors: Competitors) -> Relevance:
    """Dot products of all phrases, of any number of levels at once; `mask` is of their shape.

    The softmax is over the "document" phrases that compete for a query phrase, in which case the
    mean of a row is 1 / (number of document words) whatever the texts say; or over the "query"
    phrases that compete for a document phrase.
    """
    table = masked_softmax(query @ document.mT, mask, dim=-1 if competitors == "document" else -2)
    return Relevance(table, mask, masked_max(table, mask))

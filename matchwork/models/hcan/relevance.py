"""Relevance matching: how strongly each query phrase matches the document, and phrase weights.

The matching itself has no parameters.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from matchwork.interact.masked import masked_max, masked_mean, masked_softmax
from matchwork.models.base import FittedTables
from matchwork.text import TokenTable
from matchwork.text.batch import Ids
from matchwork.text.statistics import CorpusStatistics, Weights

Competitors = Literal["document", "query"]

# The hash of matchwork.text.statistics on signed numbers, which shift in copies of their sign.
_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
_LOW_BITS = (1 << 35) - 1


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


class PhraseWeights(FittedTables):
    """Weights of the phrases of a corpus by their keys; empty until it is fitted or loaded.

    `keys` are those of all counted phrases of 1 to `max_order` words, in order; `weights` go
    with them. Keys of different orders do not meet: they are hashes of 64 bits.
    """

    keys: Tensor
    weights: Tensor
    max_order = 3

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.empty(0, dtype=torch.int64))
        self.register_buffer("weights", torch.empty(0))

    def fit(self, tables: Sequence[TokenTable]) -> None:
        """Count the phrases of these texts."""
        keys, weights = phrase_table(tables, self.max_order)
        self.keys = torch.from_numpy(keys).to(self.keys)
        self.weights = torch.from_numpy(weights).to(self.weights)

    def forward(self, ids: Tensor, mask: Tensor, lengths: Sequence[int]) -> Tensor:
        """Weights of the phrases that start at each word, (batch, len(lengths), words).

        A phrase of `lengths[h]` words that the end of the text cuts off is the shorter phrase
        that it is. One longer than `max_order` weighs the mean of its words; one that was never
        seen weighs 1; padding weighs 0.
        """
        positions = torch.arange(mask.shape[1], device=mask.device)
        left = (mask.sum(dim=1, keepdim=True) - positions).clamp_min(0)
        found = [self._look_up(ids, order) for order in range(1, self.max_order + 1)]
        sums = pad((found[0] * mask).cumsum(dim=1), (1, 0))
        levels = []
        for length in lengths:
            real = left.clamp_max(length)
            ends = (positions + real).clamp_max(mask.shape[1])
            weights = (sums.gather(1, ends) - sums[:, :-1]) / real.clamp_min(1)
            for order, of_order in enumerate(found, start=1):
                weights = torch.where(real == order, of_order, weights)
            levels.append(weights.masked_fill(~mask, 0.0))
        return torch.stack(levels, dim=1)

    def _look_up(self, ids: Tensor, order: int) -> Tensor:
        """The weight of the phrase of `order` words from each word on; past the end anything."""
        padded, keys = pad(ids, (0, order - 1)), torch.zeros_like(ids)
        for offset in range(order):
            keys = (keys ^ padded[:, offset : offset + ids.shape[1]]) * _MIX
            keys = keys ^ ((keys >> 29) & _LOW_BITS)
        if not len(self.keys):
            return torch.ones_like(keys, dtype=self.weights.dtype)
        slots = torch.searchsorted(self.keys, keys).clamp_max(len(self.keys) - 1)
        return torch.where(self.keys[slots] == keys, self.weights[slots], 1.0)


def phrase_table(tables: Sequence[TokenTable], max_order: int) -> tuple[Ids, Weights]:
    """Keys (in order) and weights of all phrases of 1 to `max_order` words of these texts.

    The weights are those of `CorpusStatistics.ngram_weights`: `log(1 + tokens / count)`, scaled
    to [0, 1] among the phrases of equal length.
    """
    counted = CorpusStatistics.fit(TokenTable.join(tables), max_order).to_arrays()
    num_tokens = counted["totals"][1]
    keys, weights = [], []
    for order in range(1, max_order + 1):
        keys.append(counted[f"ngrams_{order}.keys"].astype(np.int64))
        rarity = np.log1p(num_tokens / counted[f"ngrams_{order}.counts"])
        low, high = rarity.min(initial=np.inf), rarity.max(initial=-np.inf)
        weights.append((rarity - low) / (high - low) if high > low else np.zeros(len(rarity)))
    together = np.concatenate(keys)
    in_order = np.argsort(together)
    return together[in_order], np.concatenate(weights)[in_order]

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

# The hash of matchwork.text.statistics, in signed integers.
_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
_LOW_BITS = (1 << 35) - 1


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
    """Return the softmaxed dot products of all phrases.

    Args:
        query: Shape (..., query, dim).
        document: Shape (..., document, dim).
        mask: Shape (..., query, document).
        competitors: Phrases that the softmax is over. With "document", the mean of a row is
            1 / (number of document words) for any text.
    """
    table = masked_softmax(query @ document.mT, mask, dim=-1 if competitors == "document" else -2)
    return Relevance(table, mask, masked_max(table, mask))


class PhraseWeights(FittedTables):
    """Weights of query phrases by their rarity in a corpus: 1 for the rarest, 0 for the commonest.

    `keys` are sorted 64-bit hashes of all counted phrases of 1 to `max_order` words; entry i of
    `weights` belongs to entry i of `keys`.
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
        """Return weights of the phrases that start at each word, (batch, len(lengths), words).

        Phrases end with the text. A phrase longer than `max_order` has the mean weight of its
        words, an unseen one weight 1, padding weight 0.

        Args:
            ids: Shape (batch, words).
            mask: Shape (batch, words).
            lengths: Numbers of words in a phrase, one for each level.
        """
        positions = torch.arange(mask.shape[1], device=mask.device)
        left = (mask.sum(dim=1, keepdim=True) - positions).clamp_min(0)
        by_order = [self._look_up(ids, order) for order in range(1, self.max_order + 1)]
        sums = pad((by_order[0] * mask).cumsum(dim=1), (1, 0))
        levels = []
        for length in lengths:
            real = left.clamp_max(length)
            ends = (positions + real).clamp_max(mask.shape[1])
            weights = (sums.gather(1, ends) - sums[:, :-1]) / real.clamp_min(1)
            for order, of_order in enumerate(by_order, start=1):
                weights = torch.where(real == order, of_order, weights)
            levels.append(weights.masked_fill(~mask, 0.0))
        return torch.stack(levels, dim=1)

    def _look_up(self, ids: Tensor, order: int) -> Tensor:
        """Return weights of the phrases of `order` words from each word on; any past the end."""
        padded, keys = pad(ids, (0, order - 1)), torch.zeros_like(ids)
        for offset in range(order):
            keys = (keys ^ padded[:, offset : offset + ids.shape[1]]) * _MIX
            keys = keys ^ ((keys >> 29) & _LOW_BITS)
        if not len(self.keys):
            return torch.ones_like(keys, dtype=self.weights.dtype)
        slots = torch.searchsorted(self.keys, keys).clamp_max(len(self.keys) - 1)
        return torch.where(self.keys[slots] == keys, self.weights[slots], 1.0)


def phrase_table(tables: Sequence[TokenTable], max_order: int) -> tuple[Ids, Weights]:
    """Return sorted keys and weights of all phrases of 1 to `max_order` words of these texts.

    A weight is `log(1 + tokens / count)`, scaled to [0, 1] among phrases of equal length.
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

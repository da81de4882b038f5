"""How much each query phrase matters: rare phrases weigh 1, the commonest 0."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from matchwork.models.base import FittedTables
from matchwork.models.hcan.phrase_counts import phrase_table
from matchwork.text import TokenTable

# The hash of phrase_counts on signed integers, whose right shift copies the sign.
_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
_LOW_BITS = (1 << 35) - 1


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

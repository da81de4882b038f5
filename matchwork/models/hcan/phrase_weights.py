"""Weights of query phrases by their rarity in the training texts."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import pad

from matchwork.models.base import FittedTables, look_up
from matchwork.text import TokenTable
from matchwork.text.batch import Ids

_MIX = 0x9E3779B97F4A7C15 - (1 << 64)
_LOW_BITS = (1 << 35) - 1


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

        Phrases have these `lengths`, and end with the text. One longer than `max_order` has the
        mean weight of its words, an unseen one weight 1, padding weight 0.
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
        keys = _phrase_keys(pad(ids, (0, order - 1)), order)
        if not len(self.keys):
            return torch.ones_like(keys, dtype=self.weights.dtype)
        slots, seen = look_up(keys, self.keys)
        return torch.where(seen, self.weights[slots], 1.0)


def phrase_table(
    tables: Sequence[TokenTable], max_order: int
) -> tuple[Ids, npt.NDArray[np.float64]]:
    """Return ascending keys of all phrases of 1 to `max_order` words, and their weights.

    No phrase crosses the end of a text. Its weight is `log(1 + tokens / count)`, scaled to [0, 1]
    among the phrases of equal length.
    """
    table = TokenTable.join(tables)
    text_of = np.repeat(np.arange(len(table)), table.lengths)
    keys, weights = [], []
    for order in range(1, max_order + 1):
        all_keys = _phrase_keys(torch.from_numpy(table.flat), order).numpy()
        whole = text_of[: len(all_keys)] == text_of[order - 1 :]
        distinct, counts = np.unique(all_keys[whole], return_counts=True)
        rarity = np.log1p(len(table.flat) / counts)
        low, high = rarity.min(initial=np.inf), rarity.max(initial=-np.inf)
        keys.append(distinct)
        weights.append((rarity - low) / (high - low) if high > low else np.zeros(len(rarity)))
    joined = np.concatenate(keys)
    ascending = np.argsort(joined)
    return joined[ascending], np.concatenate(weights)[ascending]


def _phrase_keys(ids: Tensor, order: int) -> Tensor:
    """Return 64-bit hashes of the phrases that start at each of (..., words - order + 1) words."""
    count = max(0, ids.shape[-1] - order + 1)
    keys = torch.zeros_like(ids[..., :count])
    for offset in range(order):
        keys = (keys ^ ids[..., offset : offset + count]) * _MIX
        keys = keys ^ ((keys >> 29) & _LOW_BITS)
    return keys

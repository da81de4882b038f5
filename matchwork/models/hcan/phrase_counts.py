"""The rarity of the phrases of a corpus, as a table for look-ups."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.text.batch import Ids, TokenTable

_MIX = np.uint64(0x9E3779B97F4A7C15)


def phrase_table(
    tables: Sequence[TokenTable], max_order: int
) -> tuple[Ids, npt.NDArray[np.float64]]:
    """Count the phrases of 1 to `max_order` words; none crosses the end of a text.

    The weight of a phrase is `log(1 + tokens / count)`, scaled to [0, 1] among the phrases of
    equal length.

    Returns:
        Keys of the phrases, ascending, and their weights, both of shape (phrases,).
    """
    table = TokenTable.join(tables)
    text_of = np.repeat(np.arange(len(table)), table.lengths)
    keys, weights = [], []
    for order in range(1, max_order + 1):
        all_keys = _phrase_keys(table.flat, order)
        whole = text_of[: len(all_keys)] == text_of[order - 1 :]
        distinct, counts = np.unique(all_keys[whole], return_counts=True)
        rarity = np.log1p(len(table.flat) / counts)
        low, high = rarity.min(initial=np.inf), rarity.max(initial=-np.inf)
        keys.append(distinct.astype(np.int64))
        weights.append((rarity - low) / (high - low) if high > low else np.zeros(len(rarity)))
    joined = np.concatenate(keys)
    ascending = np.argsort(joined)
    return joined[ascending], np.concatenate(weights)[ascending]


def _phrase_keys(ids: Ids, order: int) -> npt.NDArray[np.uint64]:
    """Return a 64-bit key per phrase, by position of its first word."""
    count = max(0, len(ids) - order + 1)
    keys = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(order):
            keys = (keys ^ ids[offset : offset + count].astype(np.uint64)) * _MIX
            keys ^= keys >> np.uint64(29)
    return keys

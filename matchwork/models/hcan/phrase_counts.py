"""How rare the phrases of a corpus are, as one table to look them up in."""

from collections.abc import Sequence

import numpy as np

from matchwork.text.batch import Ids, TokenTable
from matchwork.text.statistics import CorpusStatistics, Weights


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

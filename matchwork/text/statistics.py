"""What the training texts say about how common words and phrases are.

Fitted once on the training texts and saved with the matcher, never recomputed when scoring.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError
from matchwork.text.batch import Ids, TokenTable

Weights = npt.NDArray[np.float64]
_MIX = np.uint64(0x9E3779B97F4A7C15)


class CorpusStatistics:
    """Document frequencies of words and collection counts of n-grams up to `max_order`.

    N-grams are kept as sorted 64-bit keys, so that any batch is looked up without a loop.
    """

    def __init__(
        self,
        num_documents: int,
        num_tokens: int,
        document_frequency: tuple[npt.NDArray[np.uint64], Ids],
        ngrams: Sequence[tuple[npt.NDArray[np.uint64], Ids]],
    ) -> None:
        self.num_documents = num_documents
        self.num_tokens = num_tokens
        self._document_frequency = document_frequency
        self._ngrams = list(ngrams)

    @classmethod
    def fit(cls, table: TokenTable, max_order: int = 1) -> "CorpusStatistics":
        """Count words and n-grams of a corpus; phrases never cross the end of a text."""
        if max_order < 1:
            raise ConfigError(f"max_order must be at least 1, got {max_order}")
        text_of = np.repeat(np.arange(len(table)), table.lengths)
        words = _ngram_keys(table.flat, 1)
        by_word = np.lexsort((text_of, words))
        repeated = (np.diff(words[by_word]) == 0) & (np.diff(text_of[by_word]) == 0)
        frequency = _count(np.delete(words, by_word[1:][repeated]))
        ngrams = []
        for order in range(1, max_order + 1):
            keys = _ngram_keys(table.flat, order)
            whole = text_of[: len(keys)] == text_of[order - 1 :]
            ngrams.append(_count(keys[whole]))
        return cls(len(table), len(table.flat), frequency, ngrams)

    @property
    def max_order(self) -> int:
        """The longest phrase that was counted."""
        return len(self._ngrams)

    def document_frequency(self, ids: Ids) -> Ids:
        """In how many texts each word occurs."""
        return _look_up(self._document_frequency, _ngram_keys(ids, 1))

    def idf(self, ids: Ids) -> Weights:
        """`log((1 + N) / (1 + df)) + 1`, the smoothed form: at least 1, largest when unseen."""
        frequency = self.document_frequency(ids)
        weights: Weights = np.log((1 + self.num_documents) / (1 + frequency)) + 1
        return weights

    def ngram_weights(self, ids: Ids, order: int) -> Weights:
        """Weight in [0, 1] of the phrase that starts at each position of one text.

        `log(1 + tokens / count)` scaled to [0, 1] over the phrases of that order; an unseen
        phrase weighs 1. A phrase cut off by the end of the text is weighed as the shorter
        phrase that it is.
        """
        if not 1 <= order <= self.max_order:
            raise ConfigError(f"n-grams of order {order} were not counted (1..{self.max_order})")
        weights = np.ones(len(ids))
        for length in range(1, order + 1):
            keys = _ngram_keys(ids, length)
            first = 0 if length == order else max(0, len(ids) - length)
            weights[first : len(keys)] = self._weigh(keys[first:], length)
        return weights

    def _weigh(self, keys: npt.NDArray[np.uint64], order: int) -> Weights:
        counted = self._ngrams[order - 1]
        counts = _look_up(counted, keys)
        low = np.log1p(self.num_tokens / counted[1].max(initial=1))
        high = np.log1p(self.num_tokens / counted[1].min(initial=max(1, self.num_tokens)))
        raw = np.log1p(self.num_tokens / np.maximum(counts, 1))
        scaled = (raw - low) / (high - low) if high > low else np.zeros(len(keys))
        weights: Weights = np.where(counts > 0, scaled, 1.0)
        return weights

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Plain arrays for safetensors; keys as int64, which hold the same bits."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "totals": np.array([self.num_documents, self.num_tokens], dtype=np.int64)
        }
        tables = {"document_frequency": self._document_frequency} | {
            f"ngrams_{order}": table for order, table in enumerate(self._ngrams, start=1)
        }
        for name, (keys, counts) in tables.items():
            arrays[f"{name}.keys"] = keys.view(np.int64)
            arrays[f"{name}.counts"] = counts
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[np.int64]]) -> "CorpusStatistics":
        """The inverse of `to_arrays`."""

        def table(name: str) -> tuple[npt.NDArray[np.uint64], Ids]:
            return arrays[f"{name}.keys"].view(np.uint64), arrays[f"{name}.counts"]

        orders = sum(name.startswith("ngrams_") and name.endswith(".keys") for name in arrays)
        return cls(
            int(arrays["totals"][0]),
            int(arrays["totals"][1]),
            table("document_frequency"),
            [table(f"ngrams_{order}") for order in range(1, orders + 1)],
        )


def _ngram_keys(ids: Ids, order: int) -> npt.NDArray[np.uint64]:
    """One 64-bit key per n-gram, by position of its first word."""
    count = max(0, len(ids) - order + 1)
    keys = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(order):
            keys = (keys ^ ids[offset : offset + count].astype(np.uint64)) * _MIX
            keys ^= keys >> np.uint64(29)
    return keys


def _count(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Ids]:
    unique, counts = np.unique(keys, return_counts=True)
    return unique, counts.astype(np.int64)


def _look_up(table: tuple[npt.NDArray[np.uint64], Ids], keys: npt.NDArray[np.uint64]) -> Ids:
    known, counts = table
    if not len(known):
        return np.zeros(len(keys), dtype=np.int64)
    slots = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[slots] == keys, counts[slots], 0)

"""Near-duplicate texts by the overlap of their word shingles."""

from collections import defaultdict
from collections.abc import Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

SHINGLE = 3
THRESHOLD = 0.6

Shingles = npt.NDArray[np.int64]


def first_of_each(texts: Sequence[Sequence[str]]) -> list[int]:
    """Return the positions of texts whose Jaccard similarity with all earlier kept ones is < .6.

    Exact, yet far from all pairs: with the shingles of each set ordered from rare to common, two
    sets that overlap this much must share one of their first `n - ceil(.6 n) + 1`.
    """
    sets = _rare_first(_shingles(texts))
    index: dict[int, list[int]] = defaultdict(list)
    kept: list[int] = []
    for position, current in enumerate(sets):
        prefix = current[: len(current) - ceil(THRESHOLD * len(current)) + 1].tolist()
        rivals = {earlier for shingle in prefix for earlier in index[shingle]}
        if any(_jaccard(current, sets[earlier]) >= THRESHOLD for earlier in rivals):
            continue
        kept.append(position)
        for shingle in prefix:
            index[shingle].append(position)
    return kept


def _shingles(texts: Sequence[Sequence[str]]) -> list[Shingles]:
    """Return the set of word trigrams of each text, as numbers; short texts are padded to one."""
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(word, len(numbers) + 1) for word in text] for text in texts]
    base = len(numbers) + 1
    sets = []
    for codes in coded:
        row = np.array(codes + [0] * (SHINGLE - len(codes)), dtype=np.int64)
        runs = np.lib.stride_tricks.sliding_window_view(row, SHINGLE)
        sets.append(np.unique(runs @ np.array([base * base, base, 1])))
    return sets


def _rare_first(sets: Sequence[Shingles]) -> list[Shingles]:
    """Renumber the shingles by document frequency, and sort each set by it."""
    if not sets:
        return []
    _, inverse, counts = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ends = np.cumsum([len(each) for each in sets])
    return [np.sort(part) for part in np.split(rank[inverse], ends[:-1])]


def _jaccard(left: Shingles, right: Shingles) -> float:
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / (len(left) + len(right) - shared)

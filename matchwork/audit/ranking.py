"""Is the order of the candidates telling, and how far can re-ranking them go?"""

import re
from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

import numpy as np
import numpy.typing as npt

from matchwork.audit.report import FirstStage, Orders
from matchwork.data.dataset import Split
from matchwork.ordering import order
from matchwork.packages import without_package

DEPTHS = (10, 100, 1000)
MAX_SEARCHES = 2000
"""Queries of a collection that are searched; more would not move the estimate."""

_WORD = re.compile(r"\w+")


class Search:
    """BM25 over the documents of one split or collection, no stop words, no stemming."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        with without_package("jax"):  # see rank/bm25.py
            import bm25s

        self.ids = list(documents)
        self.positions = {document: position for position, document in enumerate(self.ids)}
        tokens = [_tokens(text) for text in documents.values()]
        # Without a single word there is nothing to index: every score is 0.
        self._index = bm25s.BM25(k1=1.2, b=0.75) if any(tokens) else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """One score per document, in the order of `ids`."""
        tokens = _tokens(query)
        if not tokens or self._index is None:
            return np.zeros(len(self.ids))
        return np.asarray(self._index.get_scores(tokens), dtype=np.float64)


def _tokens(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def average_precision(relevant: npt.NDArray[np.bool_], total: int) -> float:
    """AP of a ranking; `total` counts all relevant documents, ranked or not."""
    ranks = np.flatnonzero(relevant) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / total)


def reciprocal_rank(relevant: npt.NDArray[np.bool_]) -> float:
    """1 / rank of the first relevant document, 0 without one."""
    ranks = np.flatnonzero(relevant) + 1
    return float(1 / ranks[0]) if len(ranks) else 0.0


def expected_average_precision(num: int, relevant: int, total: int) -> float:
    """Mean AP over all orders of `num` documents, `relevant` of them relevant."""
    ranks = np.arange(1, num + 1)
    before = (ranks - 1) * (relevant - 1) / max(num - 1, 1)
    return float((relevant / num * (1 + before) / ranks).sum() / total)


def expected_reciprocal_rank(num: int, relevant: int) -> float:
    """Mean RR over all orders of `num` documents, `relevant` of them relevant."""
    none_yet = [1.0]
    for rank in range(1, num - relevant + 2):
        none_yet.append(none_yet[-1] * (num - relevant - rank + 1) / (num - rank + 1))
    return sum(
        (before - after) / rank for rank, (before, after) in enumerate(pairwise(none_yet), 1)
    )


def compare_orders(split: Split, search: Search) -> Orders | None:
    """File order against BM25 and chance; None when no query has both kinds of candidates."""
    rows: list[tuple[float, ...]] = []
    mixed = False
    for query, pool in (split.candidates or {}).items():
        total = sum(grade > 0 for grade in split.qrels.get(query, {}).values())
        listed = [document for document in pool if document in search.positions]
        if not total or not listed or query not in split.queries:
            continue
        relevant = np.array([split.label(query, document) > 0 for document in listed])
        found = int(relevant.sum())
        mixed |= 0 < found < len(listed)
        scores = search.scores(split.queries[query])
        scores = scores[[search.positions[document] for document in listed]]
        ranked = relevant[order(scores, relevant.astype(np.int64))]
        rows.append(
            (
                average_precision(relevant, total),
                reciprocal_rank(relevant),
                average_precision(ranked, total),
                reciprocal_rank(ranked),
                expected_average_precision(len(listed), found, total) if found else 0.0,
                expected_reciprocal_rank(len(listed), found) if found else 0.0,
            )
        )
    if not mixed:
        return None
    return Orders(len(rows), *(fmean(column) for column in zip(*rows, strict=True)))


def first_stage(split: Split, search: Search) -> FirstStage | None:
    """The ceiling for re-ranking, over queries with a relevant document; None without any."""
    wanted = {
        query: {document for document, grade in split.qrels.get(query, {}).items() if grade > 0}
        for query in split.queries
    }
    answerable = [query for query, relevant in wanted.items() if relevant]
    if not answerable:
        return None
    found: dict[str, list[float]] = {}
    if split.candidates is not None:
        found["pool"] = [
            len(wanted[query].intersection(split.candidates.get(query, ()))) / len(wanted[query])
            for query in answerable
        ]
    else:
        step = -(-len(answerable) // MAX_SEARCHES)
        answerable = answerable[::step]
        for query in answerable:
            ranks = _ranks(search, split.queries[query], wanted[query])
            for depth in DEPTHS:
                shares = found.setdefault(str(depth), [])
                shares.append(sum(rank <= depth for rank in ranks) / len(wanted[query]))
    return FirstStage(
        queries=len(answerable),
        success={depth: fmean(share > 0 for share in shares) for depth, shares in found.items()},
        recall={depth: fmean(shares) for depth, shares in found.items()},
    )


def _ranks(search: Search, query: str, relevant: set[str]) -> list[int]:
    """BM25's rank of each relevant document of the collection, ties against it."""
    scores = search.scores(query)
    positions = [search.positions[each] for each in relevant if each in search.positions]
    return [int((scores >= scores[position]).sum()) for position in positions]

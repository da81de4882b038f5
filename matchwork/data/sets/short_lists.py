"""Short lists to rank, as the Match-SRNN paper makes them: one answer and four that look like it.

The answer itself is the query of a BM25 search over all answers, and the negatives are drawn
from its best 1,000 hits, so that neither a word nor a topic alone gives the answer away.
"""

import re
from collections.abc import Mapping
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from matchwork.types import Qrels

NUM_NEGATIVES = 4
DEPTH = 1000
COMMON = 0.2  # words in more of the documents than this are stop words, as Lucene has them
K1, B = 1.2, 0.75
_SEED = 2016
_ROWS = 100  # searched at a time
_WORD = re.compile(r"[^\W_]+")


class ShortLists:
    """All documents, indexed once for the queries of several splits."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._ids = list(documents)
        self._rows = {id: row for row, id in enumerate(self._ids)}
        self._counts = _word_counts(documents)
        self._index = _bm25_weights(self._counts).T.tocsr()

    def draw(self, qrels: Qrels) -> dict[str, tuple[str, ...]]:
        """For every query its first relevant document and four others, in the corpus's order.

        Other relevant documents of the query are in no list. The draw depends on which documents
        are among the best, not on their order there.
        """
        rows = self._rows
        relevant = {
            query_id: found
            for query_id, judged in qrels.items()
            if (found := [rows[id] for id, grade in judged.items() if grade > 0 and id in rows])
        }
        random = np.random.default_rng(_SEED)
        lists: dict[str, tuple[str, ...]] = {}
        names = list(relevant)
        for start in range(0, len(names), _ROWS):
            query_ids = names[start : start + _ROWS]
            answers = [relevant[query_id][0] for query_id in query_ids]
            for query_id, scores in zip(query_ids, self._scores(answers), strict=True):
                scores[relevant[query_id]] = 0.0
                chosen = [relevant[query_id][0], *_draw(scores, random)]
                lists[query_id] = tuple(self._ids[row] for row in sorted(chosen))
        return lists

    def _scores(self, rows: list[int]) -> npt.NDArray[np.float32]:
        """BM25 of every document when these documents are the queries."""
        scores: npt.NDArray[np.float32] = (self._counts[rows] @ self._index).toarray()
        return scores


def _draw(scores: npt.NDArray[np.float32], random: np.random.Generator) -> list[int]:
    """Some of the best: with a ticket for every document, the smallest tickets among them."""
    tickets = random.random(len(scores))
    depth = min(DEPTH, len(scores))
    least = np.partition(scores, -depth)[-depth]
    best = np.flatnonzero((scores >= least) & (scores > 0))
    drawn: list[int] = best[np.argsort(tickets[best])[:NUM_NEGATIVES]].tolist()
    return drawn


def _word_counts(documents: Mapping[str, str]) -> sparse.csr_matrix:
    """How often each word (column) that is not a stop word occurs in each document (row)."""
    texts = [_WORD.findall(text.lower()) for text in documents.values()]
    words = dict.fromkeys(chain.from_iterable(texts))
    column_of = {word: column for column, word in enumerate(words)}
    columns = np.fromiter(map(column_of.__getitem__, chain.from_iterable(texts)), np.int32)
    ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    ones = np.ones(len(columns), np.float32)
    counts = sparse.csr_matrix((ones, columns, ends), (len(texts), len(column_of)))
    counts.sum_duplicates()
    found_in = np.bincount(counts.indices, minlength=len(column_of))
    return counts[:, found_in <= COMMON * len(texts)]


def _bm25_weights(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """What each word adds to the score of each document."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    found_in = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((counts.shape[0] - found_in + 0.5) / (found_in + 0.5))
    saturation = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0))
    by_entry = np.repeat(saturation, np.diff(counts.indptr))
    weights = idf[counts.indices] * counts.data / (counts.data + by_entry)
    return sparse.csr_matrix(
        (weights.astype(np.float32), counts.indices, counts.indptr), counts.shape
    )

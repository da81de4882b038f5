"""InsuranceQA V2: consumer questions over one shared set of answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from matchwork.data.collection import Pools, collection_split, read_pools, read_texts, with_truth
from matchwork.data.dataset import Split
from matchwork.data.tables import need_table
from matchwork.data.trec import read_qrels
from matchwork.rank.bm25 import BM25, BM25Config
from matchwork.types import Qrels, Scores

NUM_NEGATIVES = 4
DEPTH = 1000
COMMON = 0.2  # words in more than this share of the documents are stop words, as in Lucene
_SEED = 2016
_NUM_QUERIES = 100  # searched at a time


def insuranceqa(
    folder: Path, names: Sequence[str], pool: str, insert_truth: bool
) -> dict[str, Split]:
    """Read questions over one shared set of answers, ranked in pools or among all answers.

    `pool="five"` draws short lists of an answer and four that BM25 finds similar, for training
    too. Other training pools are always the 100 candidates with the relevant answers inserted: a
    pool without an answer teaches nothing.
    """
    answers = read_texts(need_table(folder, "corpus"))
    lists = ShortLists(answers) if pool == "five" else None
    splits = {}
    pools: Pools | None
    for name in names:
        queries = read_texts(need_table(folder, f"queries.{name}"), "query")
        qrels = read_qrels(folder / f"qrels.{name}.txt")
        if lists:
            pools = lists.draw(qrels)
        elif name == "train":
            pools = with_truth(read_pools(need_table(folder, "pool100.train")), qrels)
        else:
            pools = read_pools(need_table(folder, f"{pool}.{name}")) if pool != "full" else None
            pools = with_truth(pools, qrels) if pools and insert_truth else pools
        splits[name] = collection_split(name, queries, answers, qrels, pools, source=folder)
    return splits


class ShortLists:
    """Short lists to rank, as in the Match-SRNN paper: an answer and four similar ones.

    The answer itself is the query of a BM25 search over all answers, and the negatives are drawn
    from the best 1,000 documents, so that neither a word nor a topic alone gives the answer away.
    All documents are indexed once for the queries of several splits.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._ids = list(documents)
        self._rows = {id: row for row, id in enumerate(self._ids)}
        self._texts = list(documents.values())
        self._index = BM25.fit(documents, stopwords=_common_words(self._texts))

    def draw(self, qrels: Qrels) -> dict[str, tuple[str, ...]]:
        """Return for every query its first relevant document and four others, in corpus order.

        Other relevant documents of the query are in no list. The draw depends on which documents
        are among the best, not on their order.
        """
        relevant: dict[str, list[int]] = {}
        for query_id, judged in qrels.items():
            for id, grade in judged.items():
                if grade > 0 and id in self._rows:
                    relevant.setdefault(query_id, []).append(self._rows[id])
        random = np.random.default_rng(_SEED)
        lists: dict[str, tuple[str, ...]] = {}
        names = list(relevant)
        for start in range(0, len(names), _NUM_QUERIES):
            query_ids = names[start : start + _NUM_QUERIES]
            answers = [self._texts[relevant[query_id][0]] for query_id in query_ids]
            for query_id, scores in zip(query_ids, self._index.score_all(answers), strict=True):
                scores[relevant[query_id]] = 0.0
                rows = [relevant[query_id][0], *_draw(scores, random)]
                lists[query_id] = tuple(self._ids[row] for row in sorted(rows))
        return lists


def _draw(scores: Scores, random: np.random.Generator) -> list[int]:
    """Draw some of the best documents: every document gets a random number, the lowest win."""
    numbers = random.random(len(scores))
    depth = min(DEPTH, len(scores))
    least = np.partition(scores, -depth)[-depth]
    best = np.flatnonzero((scores >= least) & (scores > 0))
    drawn: list[int] = best[np.argsort(numbers[best])[:NUM_NEGATIVES]].tolist()
    return drawn


def _common_words(texts: list[str]) -> list[str]:
    split = BM25Config().splitter()
    frequency = Counter(word for text in texts for word in set(split(text)))
    return [word for word, count in frequency.items() if count > COMMON * len(texts)]

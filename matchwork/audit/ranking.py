"""Baselines of an audit: file order, BM25, and the best possible reranking."""

from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from matchwork.audit.report import FirstStage, Orders
from matchwork.data.dataset import Split
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.evaluate.ranking import evaluate_run
from matchwork.rank.bm25 import BM25

DEPTHS = (10, 100, 1000)
MAX_SEARCHES = 2000
"""Number of queries of a collection that are searched, enough for an estimate."""

MEASURES = ("AP", "RR")


def expected_average_precision(num: int, relevant: int, total: int) -> float:
    """Return the mean AP over all orders of `num` documents, `relevant` of the `total` in them."""
    before = ((rank - 1) * (relevant - 1) / max(num - 1, 1) for rank in range(1, num + 1))
    return sum(relevant / num * (1 + b) / rank for rank, b in enumerate(before, 1)) / total


def expected_reciprocal_rank(num: int, relevant: int) -> float:
    """Return the mean RR over all orders of `num` documents, `relevant` of them relevant."""
    none_yet = [1.0]  # probability that the first documents are all not relevant
    for rank in range(1, num - relevant + 2):
        none_yet.append(none_yet[-1] * (num - relevant - rank + 1) / (num - rank + 1))
    return sum(
        (before - after) / rank for rank, (before, after) in enumerate(pairwise(none_yet), 1)
    )


def compare_orders(split: Split, protocol: str) -> Orders | None:
    """Compare file order with BM25 and a random order; None if no query has both candidates."""
    if split.candidates is None:
        return None
    pools = {
        query: listed
        for query, pool in split.candidates.items()
        if query in split.queries and (listed := tuple(filter(split.documents.__contains__, pool)))
    }
    relevant = {
        query: sum(split.label(query, document) > 0 for document in pool)
        for query, pool in pools.items()
    }
    if not any(0 < number < len(pools[query]) for query, number in relevant.items()):
        return None
    measured = MeasuredSplit(replace(split, candidates=pools), protocol, MEASURES)
    in_file = measured.evaluate(
        {q: {id: float(-index) for index, id in enumerate(pool)} for q, pool in pools.items()}
    )
    bm25 = measured.evaluate(measured.bm25_run())
    random_ap, random_rr = [], []
    for query in in_file.queries:
        num, number = len(pools.get(query, ())), relevant.get(query, 0)
        total = sum(grade > 0 for grade in split.qrels[query].values())
        random_ap.append(expected_average_precision(num, number, total) if number else 0.0)
        random_rr.append(expected_reciprocal_rank(num, number) if number else 0.0)
    at_random = fmean(random_ap), fmean(random_rr)
    return Orders(protocol, in_file.num_queries, *_values(in_file), *_values(bm25), *at_random)


def first_stage(split: Split) -> FirstStage | None:
    """Return the upper bound of reranking candidates, or BM25's results in a collection, if any."""
    relevant = {
        query: {document for document, grade in split.qrels.get(query, {}).items() if grade > 0}
        for query in split.queries
    }
    answerable = [query for query, documents in relevant.items() if documents]
    if not answerable:
        return None
    if split.candidates is not None:
        recalls = [
            len(relevant[query].intersection(split.candidates.get(query, ())))
            / len(relevant[query])
            for query in answerable
        ]
        success = fmean(recall > 0 for recall in recalls)
        return FirstStage(len(answerable), {"pool": success}, {"pool": fmean(recalls)})
    answerable = answerable[:: -(-len(answerable) // MAX_SEARCHES)]
    run = BM25.fit(split.documents).retrieve(
        {query: split.queries[query] for query in answerable}, top_k=max(DEPTHS)
    )
    measures = [f"{name}@{depth}" for name in ("Success", "R") for depth in DEPTHS]
    values = evaluate_run(run, {query: split.qrels[query] for query in answerable}, measures)
    return FirstStage(
        len(answerable),
        {str(depth): values[f"Success@{depth}"] for depth in DEPTHS},
        {str(depth): values[f"R@{depth}"] for depth in DEPTHS},
    )


def _values(evaluation: Evaluation) -> tuple[float, float]:
    return evaluation["AP"], evaluation["RR"]

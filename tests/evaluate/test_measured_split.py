"""What is ranked on a split: its candidates, BM25's best, or everything up to a limit."""

import numpy as np
import pytest

from matchwork.data import Split
from matchwork.evaluate import measured_split
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.rank import BM25, rank_all

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture(scope="module")
def collection():
    """40 documents of random words; every query is a piece of the document it looks for."""
    random = np.random.default_rng(3)
    documents = {f"d{i}": " ".join(random.choice(WORDS, 12)) for i in range(40)}
    queries = {f"q{i}": " ".join(documents[f"d{i}"].split()[:4]) for i in range(6)}
    return Split("test", queries, documents, {f"q{i}": {f"d{i}": 1} for i in range(6)})


def split_measured(split, depth):
    return MeasuredSplit(split, "raw", ("RR", "Success@10"), depth=depth)


def test_a_small_collection_is_ranked_whole(collection):
    everything = split_measured(collection, None)
    scorer = BM25.fit(collection.documents)
    assert everything.run(scorer) == rank_all(scorer, collection.queries, collection.documents)
    assert everything.bm25_run() == scorer.retrieve(collection.queries, len(collection.documents))


def test_of_a_large_one_the_best_are_kept(collection, monkeypatch):
    scorer = BM25.fit(collection.documents)
    whole = split_measured(collection, None).run(scorer)
    monkeypatch.setattr(measured_split, "RUN_DEPTH", 7)
    cut = split_measured(collection, None)
    run = cut.run(scorer)
    for query, scores in run.items():
        assert len(scores) == 7 and scores.items() <= whole[query].items()
        assert min(scores.values()) >= sorted(whole[query].values())[-7]
    assert all(len(scores) <= 7 for scores in cut.bm25_run().values())
    # what is lost counts as not found
    lost = {query: {"d39": 1} for query in collection.queries if "d39" not in run[query]}
    assert lost and cut.evaluate({q: run[q] for q in lost})["RR"] > 0
    missing = split_measured(Split("test", collection.queries, collection.documents, lost), None)
    assert missing.evaluate(missing.run(scorer))["RR"] == 0


def test_the_best_of_bm25_are_not_cut_further(collection, monkeypatch):
    monkeypatch.setattr(measured_split, "RUN_DEPTH", 2)
    run = split_measured(collection, 5).run(BM25.fit(collection.documents))
    assert {len(scores) for scores in run.values()} == {5}

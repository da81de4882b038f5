from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError
from matchwork.rank import BM25, Calibration, rank_all, rerank
from matchwork.rank.ranking import ranking
from matchwork.rank.runs import CachingScorer
from matchwork.types import Document, Scorer


class SharedLetters:
    """Counts common letters; remembers how many pairs came in each call."""

    name = "letters"

    def __init__(self):
        self.calls = []

    def score(self, pairs):
        pairs = list(pairs)
        self.calls.append(len(pairs))
        return np.array([float(len(set(q) & set(d))) for q, d in pairs])

    def rerank(self, query, documents, top_k=None, threshold=None):
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)


QUERIES = {"q1": "abc", "q2": "xyz"}
DOCUMENTS = {"d1": "ab", "d2": "xy", "d3": "cz"}


def test_texts_are_named_by_their_position():
    hits = rerank(SharedLetters(), "abc", ["x", "abc", "ab"])
    assert [(hit.rank, hit.score, hit.document.id, hit.index) for hit in hits] == [
        (1, 3.0, "1", 1),
        (2, 2.0, "2", 2),
        (3, 0.0, "0", 0),
    ]
    assert hits[0].document.text == "abc" and hits[0].probability is None


def test_documents_keep_their_id_and_top_k_cuts():
    documents = [Document("one", "x"), Document("two", "ab")]
    (best,) = rerank(SharedLetters(), "abc", documents, top_k=1)
    assert best.document == documents[1]
    assert rerank(SharedLetters(), "abc", []) == []
    with pytest.raises(ConfigError, match="top_k must be at least 1, got 0"):
        rerank(SharedLetters(), "abc", documents, top_k=0)


class Calibrated(SharedLetters):
    """Gives probabilities."""

    calibration = Calibration(2.0, -3.0)


def test_a_threshold_is_a_probability():
    texts = ["x", "abc", "ab"]
    hits = rerank(Calibrated(), "abc", texts)
    expected = Calibrated.calibration.probability([3.0, 2.0, 0.0])
    assert [hit.probability for hit in hits] == expected.tolist()
    assert rerank(Calibrated(), "abc", texts, threshold=expected[1]) == hits[:2]
    assert rerank(Calibrated(), "abc", texts, top_k=1, threshold=expected[1]) == hits[:1]
    assert rerank(Calibrated(), "abc", [], threshold=0.5) == []
    with pytest.raises(
        ConfigError, match=r"threshold 0\.5: letters is not calibrated .* leave the"
    ):
        rerank(SharedLetters(), "abc", texts, threshold=0.5)
    with pytest.raises(ConfigError, match="threshold must lie between 0 and 1, got 2"):
        rerank(Calibrated(), "abc", texts, threshold=2)


def test_scores_from_elsewhere_are_ranked_with_ties_in_the_given_order():
    hits = ranking(["a", "b", "c"], np.array([1.0, 2.0, 1.0]), np.array([0.2, 0.9, 0.2]))
    assert [(hit.index, hit.probability) for hit in hits] == [(1, 0.9), (0, 0.2), (2, 0.2)]
    with pytest.raises(ConfigError, match="there are no probabilities to compare with"):
        ranking(["a"], np.array([1.0]), threshold=0.5)


@given(texts=st.lists(st.text("abc", max_size=4), max_size=12))
def test_a_ranking_falls_and_loses_nothing(texts):
    ranking = rerank(SharedLetters(), "ab", texts)
    assert sorted(hit.document.id for hit in ranking) == sorted(map(str, range(len(texts))))
    assert all(above.score >= below.score for above, below in pairwise(ranking))
    assert [hit.rank for hit in ranking] == list(range(1, len(texts) + 1))


def test_all_queries_are_scored_in_large_calls():
    scorer, told = SharedLetters(), []
    candidates = {"q1": ("d1", "d3"), "q2": ("d2", "d3")}
    run = rank_all(
        scorer,
        QUERIES,
        DOCUMENTS,
        candidates,
        window=3,
        progress=lambda done, total: told.append((done, total)),
    )
    assert run == {"q1": {"d1": 2.0, "d3": 1.0}, "q2": {"d2": 2.0, "d3": 1.0}}
    assert scorer.calls == [3, 1]
    assert told == [(3, 4), (4, 4)]


def test_without_candidates_every_document_is_ranked():
    run = rank_all(SharedLetters(), QUERIES, DOCUMENTS)
    assert {query: set(scores) for query, scores in run.items()} == {
        "q1": set(DOCUMENTS),
        "q2": set(DOCUMENTS),
    }
    assert rank_all(SharedLetters(), QUERIES, DOCUMENTS, {"q1": ("d1",)})["q2"] == {}


texts = st.text("abcd", min_size=1, max_size=4)


@given(
    queries=st.lists(texts, max_size=4),
    documents=st.lists(texts, min_size=1, max_size=12),
    window=st.integers(1, 20),
    top_k=st.integers(1, 14),
)
def test_the_best_are_kept_whatever_the_window(queries, documents, window, top_k):
    named = {f"q{i}": text for i, text in enumerate(queries)}
    corpus = {f"d{i}": text for i, text in enumerate(documents)}
    whole = rank_all(SharedLetters(), named, corpus)
    run = rank_all(SharedLetters(), named, corpus, top_k=top_k, window=window)
    assert list(run) == list(named)
    for query, scores in whole.items():
        # many scores are equal: what the hash of the id decides, it decides for every window
        best = sorted(scores, key=lambda name: (-scores[name], crc32(name.encode())))[:top_k]
        assert run[query] == {name: scores[name] for name in best}
        assert list(run[query]) == [name for name in corpus if name in best]


def test_candidates_are_cut_too():
    run = rank_all(
        SharedLetters(), QUERIES, DOCUMENTS, {"q1": ("d2", "d1"), "q2": ("d3",)}, top_k=1
    )
    assert run == {"q1": {"d1": 2.0}, "q2": {"d3": 1.0}}
    with pytest.raises(ConfigError, match="top_k must be at least 1, got 0"):
        rank_all(SharedLetters(), QUERIES, DOCUMENTS, top_k=0)


class ByNumber(SharedLetters):
    """Reads the texts once."""

    def prepare(self, queries, documents, advance=None):
        self.read = list(queries), list(documents)

        def score(query_rows, document_rows):
            rows = zip(query_rows, document_rows, strict=True)
            scores = self.score((queries[q], documents[d]) for q, d in rows)
            for _ in scores:
                if advance:
                    advance(1)
            return scores

        return score


def test_a_scorer_may_read_every_text_once():
    scorer = ByNumber()
    assert isinstance(scorer, CachingScorer) and not isinstance(SharedLetters(), CachingScorer)
    for candidates in (None, {"q1": ("d3", "d1"), "q2": ("d3",)}):
        expected = rank_all(SharedLetters(), QUERIES, DOCUMENTS, candidates)
        assert rank_all(scorer, QUERIES, DOCUMENTS, candidates, window=2) == expected
    assert scorer.read == (["abc", "xyz"], ["cz", "ab"])  # only what is ranked


@pytest.mark.parametrize("scorer", [SharedLetters(), ByNumber(), BM25.fit(["ab", "cz"])])
def test_progress_ends_with_all_pairs(scorer):
    told = []
    rank_all(scorer, QUERIES, DOCUMENTS, window=4, progress=lambda *counts: told.append(counts))
    assert told == sorted(told) and {total for _, total in told} == {6}
    assert told[-1] == (6, 6) and (len(told) == 6 if type(scorer) is ByNumber else len(told) == 2)


def test_an_unknown_candidate_is_named():
    with pytest.raises(DataError, match="query 'q1' has candidate 'd9', which is not among the 3"):
        rank_all(SharedLetters(), QUERIES, DOCUMENTS, {"q1": ("d1", "d9")})


def test_bm25_is_a_scorer():
    assert isinstance(BM25.fit(["a"]), Scorer)

"""What all adapters share: order, limits, opening, threads, frameworks that are not there."""

import importlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import pytest
from rerank_texts import QUERY, TEXTS

from matchwork.errors import ConfigError, MatchworkError, MissingExtraError
from matchwork.integrations.reranking import Reranker
from matchwork.rank import BM25, Calibration
from matchwork.rank.ranking import relevance


def test_best_first_with_their_places(matcher, expected):
    hits = Reranker(matcher).rerank(QUERY, TEXTS, None, 0)
    assert [TEXTS[hit.index] for hit in hits] == [text for text, _ in expected]
    np.testing.assert_allclose([h.probability for h in hits], [value for _, value in expected])


def test_a_folder_gives_what_the_matcher_gives(matcher, folder):
    for model in (folder, str(folder)):
        assert Reranker(model).rerank(QUERY, TEXTS, None, 0) == Reranker(matcher).rerank(
            QUERY, TEXTS, None, 0
        )


def test_limits(matcher, expected):
    reranker = Reranker(matcher)
    second = expected[1][1]
    assert len(reranker.rerank(QUERY, TEXTS, 3, 0)) == 3
    assert len(reranker.rerank(QUERY, TEXTS, None, second)) == 2
    assert len(reranker.rerank(QUERY, TEXTS, 1, second)) == 1
    assert reranker.rerank(QUERY, [], None, 0.5) == []


def test_scores_that_a_calibration_holds_for_equal_keep_their_order(matcher, expected):
    matcher.calibration = Calibration(slope=1e-3, intercept=60.0)  # everything is certain
    hits = Reranker(matcher).rerank(QUERY, TEXTS, None, 0)
    assert {hit.probability for hit in hits} == {1.0}
    assert [TEXTS[hit.index] for hit in hits] == [text for text, _ in expected]


def test_without_calibration_large_scores_stay_apart(matcher):
    matcher.calibration = None
    scores = np.array([-1e6, -1.0, 0.0, 1.0, 1e6, 2e6])
    values = relevance(matcher, scores)
    assert (np.diff(values) > 0).all() and values[2] == 0.5
    counts = relevance(BM25.fit(["a"]), scores[2:])
    assert (np.diff(counts) > 0).all() and counts[0] == 0 and counts[-1] < 1


@pytest.mark.parametrize(
    ("top_k", "threshold", "message"),
    [
        (0, 0.0, "must be at least 1, got 0"),
        (None, 1.5, r"between 0 and 1, got 1\.5"),
        (None, -0.1, r"between 0 and 1, got -0\.1"),
    ],
)
def test_limits_out_of_range(matcher, top_k, threshold, message):
    with pytest.raises(ConfigError, match=message):
        Reranker(matcher).rerank(QUERY, TEXTS, top_k, threshold)


def test_a_scorer_that_is_no_matcher(tmp_path):
    index = BM25.fit(TEXTS)
    index.save(tmp_path / "index")
    opened = Reranker(tmp_path / "index")
    hits = opened.rerank(QUERY, TEXTS, None, 0)
    assert [hit.score for hit in hits] == [hit.score for hit in index.rerank(QUERY, TEXTS)]
    with pytest.raises(ConfigError, match="BM25 gives no explanations"):
        opened.explain(QUERY, TEXTS[0])


def test_what_is_not_a_matcher_is_refused(tmp_path):
    with pytest.raises(MatchworkError):
        Reranker(tmp_path)


def test_threads_wait_for_each_other(matcher, monkeypatch):
    """Scoring switches a model out of training and back: not in the middle of another's."""
    score, busy = matcher.score, Lock()

    def score_alone(pairs):
        assert busy.acquire(blocking=False), "two at once"
        time.sleep(0.002)
        busy.release()
        return score(pairs)

    monkeypatch.setattr(matcher, "score", score_alone)
    reranker = Reranker(matcher)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: reranker.rerank(QUERY, TEXTS, None, 0), range(12)))
    assert found == [found[0]] * 12


@pytest.mark.parametrize(
    ("adapter", "imported", "message"),
    [
        ("langchain", "langchain_core.callbacks", r"LangChain needs .*'matchwork\[langchain\]'"),
        ("llama_index", "llama_index.core.schema", r"LlamaIndex needs .*'matchwork\[llamaindex\]'"),
        ("haystack", "haystack", r"Haystack needs .*'matchwork\[haystack\]'"),
    ],
)
def test_an_absent_framework_names_its_extra(adapter, imported, message, monkeypatch):
    monkeypatch.delitem(sys.modules, f"matchwork.integrations.{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, imported, None)
    with pytest.raises(MissingExtraError, match=message):
        importlib.import_module(f"matchwork.integrations.{adapter}")

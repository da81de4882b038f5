"""Matchers in real pipelines of Haystack."""

import os

import pytest
from rerank_texts import QUERY, TEXTS

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read on import; else it writes to the home
pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from matchwork.errors import ConfigError
from matchwork.integrations.haystack import MatchworkRanker


def documents():
    return [Document(content=text, meta={"place": n}) for n, text in enumerate(TEXTS)]


def test_the_best_come_first_with_their_relevance(folder, expected):
    given = documents()
    ranker = MatchworkRanker(folder)
    ranker.warm_up()
    found = ranker.run(query=QUERY, documents=given)["documents"]
    assert [each.content for each in found] == [text for text, _ in expected]
    assert [each.score for each in found] == pytest.approx([value for _, value in expected])
    assert [each.meta["place"] for each in found] == [TEXTS.index(text) for text, _ in expected]
    assert given == documents()


def test_limits_of_the_ranker_and_of_a_run(matcher, expected):
    ranker = MatchworkRanker(matcher, top_k=3)
    assert len(ranker.run(QUERY, documents())["documents"]) == 3
    assert len(ranker.run(QUERY, documents(), top_k=1)["documents"]) == 1
    kept = ranker.run(QUERY, documents(), score_threshold=expected[1][1])["documents"]
    assert [each.content for each in kept] == [text for text, _ in expected[:2]]
    assert ranker.run(QUERY, [])["documents"] == []
    assert len(ranker.run(QUERY, [Document(content=None)])["documents"]) == 1
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        ranker.run(QUERY, documents(), top_k=0)
    with pytest.raises(ConfigError, match=r"between 0 and 1, got 7"):
        MatchworkRanker(matcher, score_threshold=7)


def test_in_a_pipeline_that_went_through_a_file(folder, expected):
    store = InMemoryDocumentStore()
    store.write_documents(documents())
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=4))
    pipeline.add_component("ranker", MatchworkRanker(folder, top_k=2, score_threshold=0.01))
    pipeline.connect("retriever", "ranker")
    asked = {"retriever": {"query": "who the bamboo museum"}, "ranker": {"query": QUERY}}
    found = pipeline.run(asked)["ranker"]["documents"]
    assert [each.content for each in found] == [text for text, _ in expected[:2]]
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["matchwork"])
    assert again.run(asked)["ranker"]["documents"] == found
    ranker = again.get_component("ranker")
    assert (ranker.model, ranker.top_k, ranker.score_threshold) == (str(folder), 2, 0.01)


def test_a_matcher_itself_is_not_written(matcher):
    with pytest.raises(ConfigError, match="cannot hold the scorer 'bag' itself; save it"):
        MatchworkRanker(matcher).to_dict()

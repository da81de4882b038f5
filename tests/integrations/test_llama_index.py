"""Matchers in a real query engine of LlamaIndex, with its own index and no language model."""

import asyncio

import pytest
from rerank_texts import QUERY, TEXTS

pytest.importorskip("llama_index.core")

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode

from matchwork.errors import ConfigError, DataError
from matchwork.integrations.llama_index import MatchworkRerank


def nodes():
    return [
        NodeWithScore(node=TextNode(text=text, metadata={"file": "bamboo.txt"}), score=0.1)
        for text in TEXTS
    ]


def test_the_best_come_first_with_their_relevance(folder, expected):
    given = nodes()
    found = MatchworkRerank(model=folder).postprocess_nodes(given, query_str=QUERY)
    assert [each.node.text for each in found] == [text for text, _ in expected]
    assert [each.score for each in found] == pytest.approx([value for _, value in expected])
    assert [each.score for each in given] == [0.1] * len(TEXTS)
    assert found[0].node.metadata == {"file": "bamboo.txt"}


def test_limits(matcher, expected):
    best = MatchworkRerank(model=matcher, top_n=2, threshold=expected[0][1])
    assert [each.node.text for each in best.postprocess_nodes(nodes(), query_str=QUERY)] == [
        expected[0][0]
    ]
    assert best.postprocess_nodes([], query_str=QUERY) == []
    with pytest.raises(ConfigError, match=r"between 0 and 1, got 2\.0"):
        MatchworkRerank(model=matcher, threshold=2)
    with pytest.raises(DataError, match="needs a query, got none"):
        best.postprocess_nodes(nodes())


def test_in_a_query_engine(matcher, expected):
    index = VectorStoreIndex(
        [each.node for each in nodes()], embed_model=MockEmbedding(embed_dim=4)
    )
    engine = index.as_query_engine(
        llm=MockLLM(),
        similarity_top_k=len(TEXTS),
        node_postprocessors=[MatchworkRerank(model=matcher, top_n=2)],
    )
    for answer in (engine.query(QUERY), asyncio.run(engine.aquery(QUERY))):
        assert [each.node.text for each in answer.source_nodes] == [t for t, _ in expected[:2]]
        assert expected[0][0] in str(answer)  # the mock repeats its prompt

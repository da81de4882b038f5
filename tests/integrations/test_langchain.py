"""Matchers in real chains of LangChain."""

import asyncio
import json

import pytest
from rerank_texts import QUERY, TEXTS

pytest.importorskip("langchain_core")

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from matchwork.errors import ConfigError
from matchwork.explain import explain
from matchwork.integrations.langchain import MatchworkCrossEncoder, MatchworkRerank


class Everything(BaseRetriever):
    """Finds all there is."""

    def _get_relevant_documents(self, query, *, run_manager):
        return documents()


def documents():
    return [Document(text, id=str(n), metadata={"place": n}) for n, text in enumerate(TEXTS)]


def test_the_best_come_first_with_their_relevance(folder, expected):
    given = documents()
    found = MatchworkRerank(model=str(folder)).compress_documents(given, QUERY)
    assert [each.page_content for each in found] == [text for text, _ in expected]
    for each, (text, value) in zip(found, expected, strict=True):
        assert each.metadata == {
            "place": TEXTS.index(text),
            "relevance_score": pytest.approx(value),
        }
        assert each.id == str(TEXTS.index(text))
    assert given == documents()


def test_limits(matcher, expected):
    rerank = MatchworkRerank(model=matcher, top_n=1)
    assert [each.page_content for each in rerank.compress_documents(documents(), QUERY)] == [
        expected[0][0]
    ]
    rerank = MatchworkRerank(model=matcher, threshold=expected[1][1])
    assert len(rerank.compress_documents(documents(), QUERY)) == 2
    assert MatchworkRerank(model=matcher).compress_documents([], QUERY) == []
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        MatchworkRerank(model=matcher, top_n=0)


def test_explanations_are_plain_values(matcher):
    rerank = MatchworkRerank(model=matcher, top_n=2, explain=True)
    for each in rerank.compress_documents(documents(), QUERY):
        table = each.metadata["explanation"]
        assert table == explain(matcher, QUERY, each.page_content).to_dict()
        assert json.loads(json.dumps(table)) == table


def test_in_a_chain(matcher, expected):
    rerank = MatchworkRerank(model=matcher, top_n=2)
    chain = (
        {"documents": Everything(), "query": RunnablePassthrough()}
        | RunnableLambda(lambda found: rerank.compress_documents(**found))
        | RunnableLambda(lambda kept: "\n".join(each.page_content for each in kept))
    )
    answer = "\n".join(text for text, _ in expected[:2])
    assert chain.invoke(QUERY) == answer
    assert asyncio.run(chain.abatch([QUERY] * 3)) == [answer] * 3


def test_in_a_compression_retriever(matcher, expected):
    pytest.importorskip("langchain_classic")
    from langchain_classic.retrievers import ContextualCompressionRetriever

    retriever = ContextualCompressionRetriever(
        base_compressor=MatchworkRerank(model=matcher, top_n=2), base_retriever=Everything()
    )
    assert [each.page_content for each in retriever.invoke(QUERY)] == [t for t, _ in expected[:2]]
    found = asyncio.run(retriever.ainvoke(QUERY))
    assert [each.page_content for each in found] == [text for text, _ in expected[:2]]


def test_as_a_cross_encoder(matcher, folder, expected):
    pairs = [(QUERY, text) for text in TEXTS]
    scores = MatchworkCrossEncoder(folder).score(pairs)
    assert [type(score) for score in scores] == [float] * len(TEXTS)
    assert scores == pytest.approx([dict(expected)[text] for text in TEXTS])
    assert MatchworkCrossEncoder(matcher).score([]) == []


def test_in_the_reranker_of_cross_encoders(matcher, expected):
    pytest.importorskip("langchain_classic")
    from langchain_classic.retrievers.document_compressors import CrossEncoderReranker

    reranker = CrossEncoderReranker(model=MatchworkCrossEncoder(matcher), top_n=2)
    found = reranker.compress_documents(documents(), QUERY)
    assert [each.page_content for each in found] == [text for text, _ in expected[:2]]

"""Clients that others wrote, pointed at our address: only the address and the key differ."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import cohere
import httpx
import pytest
from server_process import MAX_DOCUMENT_TOKENS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ranking(matcher, question):
    """What every client should find: (place, relevance), best first."""
    query, documents = question
    ranked = matcher.rerank(query, documents)
    return [(int(e.document.id), float(matcher.calibration.probability(e.score))) for e in ranked]


def test_the_async_client_of_cohere(server, question, ranking):
    query, documents = question

    async def ask():
        async with httpx.AsyncClient(timeout=30) as transport:
            client = cohere.AsyncClientV2(
                api_key="any", base_url=server.url, httpx_client=transport
            )
            asked = (client.rerank(model="bag", query=query, documents=documents) for _ in range(8))
            answers = await asyncio.gather(*asked)
            with pytest.raises(cohere.errors.NotFoundError, match="no model named 'bagg'"):
                await client.rerank(model="bagg", query=query, documents=documents)
            return answers

    for answer in asyncio.run(ask()):
        assert [each.index for each in answer.results] == [place for place, _ in ranking]
        found = [each.relevance_score for each in answer.results]
        assert found == pytest.approx([relevance for _, relevance in ranking])


def test_the_key_of_cohere(slow):
    """`SLOW` wants keys: theirs travel as ours do."""
    with httpx.Client(timeout=30) as transport:

        def rerank(key):
            client = cohere.ClientV2(api_key=key, base_url=slow.url, httpx_client=transport)
            return client.rerank(model="slow", query="0", documents=["a", "bb"])

        assert [each.index for each in rerank("first-key").results] == [1, 0]
        with pytest.raises(cohere.errors.UnauthorizedError, match="no valid API key"):
            rerank("third-key")


def test_cohere_in_langchain(server, question, ranking):
    pytest.importorskip("langchain_cohere")
    from langchain_cohere import CohereRerank
    from langchain_core.documents import Document

    query, texts = question
    rerank = CohereRerank(model="bag", base_url=server.url, cohere_api_key="any", top_n=3)
    with rerank.client:
        found = rerank.compress_documents([Document(text) for text in texts], query)
        shorter = rerank.rerank(texts, query, top_n=1, max_tokens_per_doc=512)
    assert [each.page_content for each in found] == [texts[place] for place, _ in ranking[:3]]
    relevances = [each.metadata["relevance_score"] for each in found]
    assert relevances == pytest.approx([relevance for _, relevance in ranking[:3]])
    assert [each["index"] for each in shorter] == [ranking[0][0]]


def test_jina_in_langchain(server, question, ranking, monkeypatch):
    pytest.importorskip("langchain_community")
    from langchain_community.document_compressors import jina_rerank
    from langchain_core.documents import Document

    query, texts = question
    monkeypatch.setattr(jina_rerank, "JINA_API_URL", f"{server.url}/v1/rerank")
    rerank = jina_rerank.JinaRerank(model="bag", jina_api_key="any", top_n=3)
    with rerank.session:
        found = rerank.compress_documents([Document(text) for text in texts], query)
        assert [each.page_content for each in found] == [texts[place] for place, _ in ranking[:3]]
        with pytest.raises(RuntimeError, match="no model named 'bagg'; did you mean"):
            rerank.rerank(texts, query, model="bagg")


def test_tei_in_llama_index(server, question, ranking):
    tei = pytest.importorskip("llama_index.postprocessor.tei_rerank")
    from llama_index.core.schema import NodeWithScore, TextNode

    query, texts = question
    long = "zebra " * 2 * MAX_DOCUMENT_TOKENS  # which this client sends as it is
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in (*texts, long)]
    rerank = tei.TextEmbeddingInference(base_url=server.url, top_n=len(nodes))
    found = rerank.postprocess_nodes(nodes, query_str=query)
    assert found[-1].text == long
    assert [each.text for each in found[:-1]] == [texts[place] for place, _ in ranking]
    relevances = [each.score for each in found[:-1]]
    assert relevances == pytest.approx([relevance for _, relevance in ranking])


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("page", ["README.md", "docs/serve.md"])
def test_the_curl_line_of_the_pages(server, page):
    (block,) = re.findall(r"^```sh\n(curl .*?)^```", (ROOT / page).read_text(), re.M | re.S)
    command = block.replace("localhost:8000", server.url).replace('"answers"', '"bag"')
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert {each["index"] for each in json.loads(done.stdout)["results"]} == {0, 1}

"""What clients send and read: real server, real clients, scores of the matcher itself."""

import cohere
import httpx
import numpy as np
import pytest
from server_process import MAX_DOCUMENT_TOKENS

from matchwork.explain import explain


def expected(matcher, query, documents):
    """Index and probability, best first."""
    ranked = matcher.rerank(query, documents)
    scores = np.array([each.score for each in ranked])
    return [int(each.document.id) for each in ranked], matcher.calibration.probability(scores)


def test_cohere_answers_as_documented(server, matcher, question):
    query, documents = question
    body = {"model": "bag", "query": query, "documents": documents}
    answer = server.post("/v2/rerank", body)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    table = answer.json()
    assert set(table) == {"id", "results", "meta"}
    assert table["meta"]["api_version"] == {"version": "2", "is_experimental": False}
    order, probabilities = expected(matcher, query, documents)
    assert [each["index"] for each in table["results"]] == order
    assert all(set(each) == {"index", "relevance_score"} for each in table["results"])
    scores = [each["relevance_score"] for each in table["results"]]
    np.testing.assert_allclose(scores, probabilities, rtol=1e-6)
    assert table["id"] != server.post("/v2/rerank", body).json()["id"]


@pytest.fixture
def cohere_client(server):
    with httpx.Client(timeout=30) as transport:
        yield cohere.ClientV2(api_key="any", base_url=server.url, httpx_client=transport)


def test_the_client_of_cohere(cohere_client, matcher, question):
    query, documents = question
    answer = cohere_client.rerank(model="bag", query=query, documents=documents, top_n=2)
    order, probabilities = expected(matcher, query, documents)
    assert [each.index for each in answer.results] == order[:2]
    assert answer.results[0].relevance_score == pytest.approx(probabilities[0])
    assert answer.meta.billed_units.search_units == 1
    with pytest.raises(cohere.errors.NotFoundError, match="no model named 'bagg'; did you mean"):
        cohere_client.rerank(model="bagg", query=query, documents=documents)
    with pytest.raises(cohere.errors.BadRequestError, match="must not be empty"):
        cohere_client.rerank(model="bag", query=query, documents=[])


def test_spans_of_cohere_are_those_of_the_explanation(server, matcher, question):
    query, documents = question
    body = {"model": "bag", "query": query, "documents": documents, "top_n": 2}
    options = {"mode": "enabled", "threshold": 0.3, "max_spans": 2}
    answer = server.post("/v2/rerank", {**body, "relevant_spans": options}).json()
    for result in answer["results"]:
        document = documents[result["index"]]
        spans = explain(matcher, query, document).spans(0.3, 2)
        assert result["relevant_spans"] == [
            {"start": span.start, "end": span.end, "score": pytest.approx(span.score)}
            for span in spans
        ]
    assert any(result["relevant_spans"] for result in answer["results"])
    off = server.post("/v2/rerank", {**body, "relevant_spans": {"mode": "disabled"}}).json()
    assert "relevant_spans" not in off["results"][0]


def test_spans_that_a_scorer_has_not_are_refused_before_it_ranks(server):
    def batches() -> list[str]:
        page = server.get("/metrics").text.splitlines()
        return [line for line in page if line.startswith("matchwork_batch_pairs_count")]

    before = batches()
    body = {"model": "bm25", "query": "a", "documents": ["a", "b"], "relevant_spans": {}}
    answer = server.post("/v2/rerank", body)
    assert (answer.status_code, answer.json()) == (
        400,
        {"message": "model 'bm25' gives no explanations"},
    )
    assert batches() == before


def test_cohere_cuts_documents_on_request(server, matcher):
    documents = ["fox", "fox whale whale whale"]
    body = {"model": "bag", "query": "whale fox", "documents": documents}
    answer = server.post("/v2/rerank", {**body, "max_tokens_per_doc": 1}).json()
    first, second = (each["relevance_score"] for each in answer["results"])
    assert first == second
    whole = server.post("/v2/rerank", body).json()["results"]
    assert whole[0]["relevance_score"] != whole[1]["relevance_score"]


def test_jina_answers_as_documented(server, matcher, question):
    query, documents = question
    mixed = [{"text": text} if place % 2 else text for place, text in enumerate(documents)]
    body = {"model": "bag", "query": query, "documents": mixed, "top_n": 3}
    table = server.post("/v1/rerank", body).json()
    assert set(table) == {"model", "object", "usage", "results"}
    assert (table["model"], table["object"]) == ("bag", "list")
    num_tokens = matcher.tokenizer.encode([query, *documents]).lengths.sum()
    assert table["usage"] == {"total_tokens": num_tokens, "prompt_tokens": num_tokens}
    order, probabilities = expected(matcher, query, documents)
    assert [each["index"] for each in table["results"]] == order[:3]
    for result, probability in zip(table["results"], probabilities, strict=False):
        assert result["relevance_score"] == pytest.approx(probability)
        assert result["document"] == {"text": documents[result["index"]]}
    bare = server.post("/v1/rerank", {**body, "return_documents": False}).json()
    assert set(bare["results"][0]) == {"index", "relevance_score"}


def test_tei_answers_as_documented(server, matcher, question):
    query, documents = question
    body = {"query": query, "texts": documents, "truncate": True}
    table = server.post("/rerank", body).json()
    order, probabilities = expected(matcher, query, documents)
    assert [each["index"] for each in table] == order
    np.testing.assert_allclose([each["score"] for each in table], probabilities, rtol=1e-6)
    raw = server.post("/rerank", {**body, "raw_scores": True, "return_text": True}).json()
    ranked = matcher.rerank(query, documents)
    np.testing.assert_allclose([e["score"] for e in raw], [r.score for r in ranked], rtol=1e-6)
    assert [each["text"] for each in raw] == [each.document.text for each in ranked]


def test_long_texts_are_counted_or_refused(server):
    long = "fox " * (MAX_DOCUMENT_TOKENS + 5)
    texts = {"query": "fox", "texts": [long, "fox"]}
    answer = server.post("/rerank", {**texts, "truncate": False})
    assert answer.status_code == 413
    assert answer.json() == {
        "error": "1 texts have 5 tokens more than the model reads; "
        "leave truncate: false out to cut them",
        "error_type": "Validation",
    }
    for open_or_cut in ({}, {"truncate": None}, {"truncate": True}):
        answer = server.post("/rerank", {**texts, **open_or_cut})
        assert answer.status_code == 200
        assert answer.headers["x-matchwork-truncated"] == "texts=1, tokens=5"
    body = {"model": "bag", "query": "fox", "documents": [long]}
    warnings = server.post("/v2/rerank", body).json()["meta"]["warnings"]
    assert warnings == ["1 text was too long and lost 5 tokens"]
    pairs = [{"query": "fox", "document": long}]
    assert server.post("/score", {"pairs": pairs}).json()["truncated"] == {"texts": 1, "tokens": 5}
    assert server.metric("matchwork_cut_tokens_total") >= 15


def test_pairs_reasons_and_models(server, matcher, question):
    query, documents = question
    pairs = [{"query": query, "document": document} for document in documents]
    table = server.post("/score", {"model": "bag", "pairs": pairs}).json()
    scores = matcher.score([(query, document) for document in documents])
    np.testing.assert_allclose(table["scores"], scores, rtol=1e-6)
    np.testing.assert_allclose(
        table["probabilities"], matcher.calibration.probability(scores), rtol=1e-6
    )
    reasons = server.post("/explain", {"query": query, "document": documents[0]}).json()
    assert reasons["model"] == "bag" and reasons["score"] == pytest.approx(scores[0])
    assert reasons["tables"] and reasons["query_tokens"][0]["start"] == 0
    models = server.get("/models").json()["models"]
    assert [each["name"] for each in models] == ["bag", "kernels", "bm25"]
    assert [each["explains"] for each in models] == [True, True, False]
    assert models[0]["max_document_tokens"] == MAX_DOCUMENT_TOKENS


def test_bm25_of_the_candidates(server):
    documents = ["a red fox", "a blue whale", "", "fox fox"]
    body = {"model": "bm25", "query": "fox", "documents": documents}
    results = server.post("/v1/rerank", body).json()["results"]
    assert {results[0]["index"], results[1]["index"]} == {0, 3}
    assert all(0 < each["relevance_score"] < 1 for each in results[:2])
    assert [each["relevance_score"] for each in results[2:]] == [0, 0]
    wordless = server.post("/v1/rerank", {**body, "documents": ["", "?!"]})
    assert wordless.status_code == 200
    answer = server.post("/explain", {"model": "bm25", "query": "a", "document": "b"})
    assert answer.status_code == 422
    assert answer.json() == {"detail": "model 'bm25' gives no explanations"}


def test_health_metrics_and_the_description(server):
    for path, status in (
        ("/health", "ready"),
        ("/health/live", "live"),
        ("/health/ready", "ready"),
    ):
        assert server.get(path).json() == {"status": status}
    page = server.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    for name in ("request_seconds", "batch_pairs", "queue_pairs", "cut_texts", "requests"):
        assert f"matchwork_{name}" in page.text
    paths = server.get("/openapi.json").json()["paths"]
    assert {"/v2/rerank", "/v1/rerank", "/rerank", "/score", "/explain"} <= set(paths)


@pytest.mark.parametrize("text", ["שלום עולם", "tab\tnul\x00bell\x07", "🦊" * 50, "é" * 9])
def test_any_text_is_a_text(server, text):
    answer = server.post("/rerank", {"query": text, "texts": [text, ""], "return_text": True})
    assert answer.status_code == 200
    assert {each["text"] for each in answer.json()} == {text, ""}


def test_many_requests_on_one_connection(server, question):
    query, documents = question
    body = {"model": "bag", "query": query, "documents": documents}
    with httpx.Client(base_url=server.url) as client:
        answers = [client.post("/v2/rerank", json=body).json()["results"] for _ in range(5)]
    assert answers == [answers[0]] * 5

"""The page's files and the collection, as any client sees them."""

import pytest
from starlette.testclient import TestClient

from matchwork.data import toy
from matchwork.errors import ConfigError
from matchwork.rank import BM25
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.serve import Settings, create_app
from matchwork.serve.page import PATHS

DOCUMENTS = dict(toy()["train"].documents)


@pytest.fixture(scope="module")
def client():
    settings = Settings(max_documents=5, max_chars=200)
    with TestClient(create_app([CandidateBM25()], settings, DOCUMENTS)) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
def test_every_file_comes_with_its_policy(client, path):
    answer = client.get(path)
    assert answer.status_code == 200 and answer.content
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304 and again.content == b""
    assert client.head(path).status_code == 200


def test_the_page_names_nothing_elsewhere(client):
    for path in PATHS:
        text = client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "//cdn" not in text, path
        for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert sink not in text, path


def test_the_page_is_open_where_keys_are_wanted():
    client = TestClient(create_app([CandidateBM25()], Settings(api_keys=("key",))))
    assert client.get("/").status_code == client.get("/static/app.js").status_code == 200
    assert client.get("/models").status_code == 401
    assert client.post("/search", json={"query": "a"}).status_code == 401


def test_no_other_file_is_served(client):
    for path in ("/static/", "/static/none.js", "/static/../__init__.py", "/static/%2e%2e/app.py"):
        assert client.get(path).status_code == 404


def test_search_finds_what_bm25_finds(client):
    query = "who wrote hamlet"
    answer = client.post("/search", json={"query": query, "top_k": 3})
    (expected,) = BM25.fit(DOCUMENTS).search([query], 3)
    assert answer.json()["documents"] == [
        {"id": id, "text": DOCUMENTS[id], "score": score} for id, score in expected.items()
    ]
    assert client.post("/search", json={"query": "xyzzy"}).json() == {"documents": []}
    assert len(client.post("/search", json={"query": "the of a"}).json()["documents"]) == 5
    assert client.get("/models").json()["collection_size"] == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ({"query": "", "top_k": 1}, "query must not be empty"),
        ({"query": "x" * 201, "top_k": 1}, "query has 201 characters; at most 200"),
        ({"query": "a", "top_k": 0}, "top_k: Input should be greater than or equal to 1"),
        ({"query": "a", "top_k": 6}, "top_k is 6; at most 5"),
    ],
)
def test_searches_that_are_refused(client, body, match):
    answer = client.post("/search", json=body)
    assert answer.status_code == 422 and match in answer.json()["detail"]


def test_without_a_collection():
    with TestClient(create_app([CandidateBM25()])) as client:
        answer = client.post("/search", json={"query": "fox"})
        assert answer.status_code == 404
        assert "start the service with --collection FILE" in answer.json()["detail"]
        assert client.get("/models").json()["collection_size"] is None


def test_a_collection_with_a_text_that_no_request_may_have():
    with pytest.raises(ConfigError, match=r"document 'b' .* 6 characters; at most 5.*--max-chars"):
        create_app([CandidateBM25()], Settings(max_chars=5), {"a": "fox", "b": "whales"})

"""Whatever is sent: the protocol's own error, the right status, nothing given away."""

import json

import pytest

MAX_CHARS, MAX_DOCUMENTS, MAX_BODY = 20_000, 1000, 16 << 20
FIELDS = {"/v2/rerank": "message", "/v1/rerank": "detail", "/rerank": "error"}
PATHS = pytest.mark.parametrize("path", FIELDS)


def noun(path):
    """The protocol's for a document."""
    return "text" if path == "/rerank" else "document"


def body(path, **changes):
    texts = f"{noun(path)}s"
    table = {"model": "bag", "query": "fox", texts: ["a fox"]}
    documents = changes.pop("documents", None)
    return {**table, **({} if documents is None else {texts: documents}), **changes}


def assert_refused(path, answer, statuses, match):
    """Statuses of Cohere, Jina and TEI."""
    status = dict(zip(FIELDS, statuses, strict=True))[path]
    assert answer.status_code == status, answer.text
    table = answer.json()
    shape = {"error", "error_type"} if path == "/rerank" else {FIELDS[path]}
    assert set(table) == shape
    assert match in table[FIELDS[path]]
    assert not any(
        word in answer.text for word in ("Traceback", ".py", "site-packages", "pydantic")
    )
    assert len(answer.content) < 500


@PATHS
@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"",
        b'{"query": NaN}',
        b'{"query": Infinity}',
        b'{"model": "bag", "query": "\\ud800", "documents": ["a"], "texts": ["a"]}',
        b'{"query": "\xff"}',
        b"[" * 100_000,
        b'{"query": "a"} {"query": "b"}',
    ],
    ids=["cut", "empty", "nan", "infinity", "surrogate", "latin", "deep", "two"],
)
def test_what_is_not_json(server, path, content):
    answer = server.send(path, content)
    statuses = (400, 422, 400) if content else (400, 422, 422)
    assert_refused(path, answer, statuses, "not valid JSON" if content else "required")


@PATHS
@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"query": 5}, "query: Input should be a valid string"),
        ({"query": None}, "query: Input should be a valid string"),
        ({"documents": "fox"}, "Input should be a valid list"),
        ({"documents": ["fox", 7]}, "1"),
        ({"documents": [["fox"]]}, "0"),
    ],
)
def test_wrong_types(server, path, change, match):
    assert_refused(path, server.post(path, body(path, **change)), (400, 422, 422), match)


@PATHS
def test_what_is_no_object(server, path):
    for content in (b"[]", b'"text"', b"7", b"null"):
        assert_refused(path, server.send(path, content), (400, 422, 422), "")


@pytest.mark.parametrize("path", ["/v2/rerank", "/v1/rerank"])
@pytest.mark.parametrize("top_n", [b"0", b"-1", b'"5"', b"1.5", b"true", b"1e999"])
def test_top_n_is_a_number_of_documents(server, path, top_n):
    content = json.dumps(body(path)).encode()[:-1] + b', "top_n": ' + top_n + b"}"
    answer = server.send(path, content)
    assert answer.status_code in (400, 422) and set(answer.json()) == {FIELDS[path]}


@PATHS
def test_a_huge_top_n_is_everything(server, path):
    assert server.post(path, body(path, top_n=10**30)).status_code == 200


@PATHS
def test_nothing_to_rank(server, path):
    answer = server.post(path, body(path, documents=[]))
    assert_refused(path, answer, (400, 422, 400), f"{noun(path)}s must not be empty")
    answer = server.post(path, body(path, query=""))
    assert_refused(path, answer, (400, 422, 400), "query must not be empty")


@PATHS
def test_too_many_documents(server, path):
    texts = ["fox"] * (MAX_DOCUMENTS + 1)
    answer = server.post(path, body(path, documents=texts))
    match = f"1001 {noun(path)}s are too many; at most 1000"
    assert_refused(path, answer, (400, 422, 413), match)


@PATHS
def test_too_long_a_text(server, path):
    for size in (MAX_CHARS + 1, 10_000_000):
        answer = server.post(path, body(path, documents=["fox", "x" * size]))
        match = f"{noun(path)} 1 has {size} characters; at most {MAX_CHARS}"
        assert_refused(path, answer, (400, 422, 413), match)
    answer = server.post(path, body(path, query="x" * (MAX_CHARS + 1)))
    assert_refused(path, answer, (400, 422, 413), "query has 20001 characters")


@PATHS
def test_too_large_a_body(server, path):
    answer = server.post(path, body(path, documents=["x" * (MAX_BODY + 1)]))
    assert_refused(path, answer, (413, 413, 413), f"larger than {MAX_BODY} bytes")


@PATHS
def test_unknown_models(server, path):
    answer = server.post(path, body(path, model="kernel"))
    assert_refused(
        path, answer, (404, 404, 404), "no model named 'kernel'; did you mean 'kernels'?"
    )
    answer = server.post(path, body(path, model="x" * 5000))
    assert_refused(path, answer, (404, 404, 404), "no model named 'xxx")


@PATHS
def test_only_json_is_read(server, path):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = server.send(path, b"{}", kind)
        assert_refused(path, answer, (415, 415, 415), "application/json")


@PATHS
def test_other_methods_and_paths(server, path):
    answer = server.get(path)
    assert_refused(path, answer, (405, 405, 405), "method not allowed")
    assert answer.headers["allow"] == "POST"
    answer = server.get(path + "/../../etc/passwd")
    assert answer.status_code == 404 and answer.json() == {"detail": "no such path"}


def test_numbers_of_options_are_finite(server):
    for threshold in (b"NaN", b"-1", b"2", b'"0.5"', b"1e999"):
        content = b'{"model": "bag", "query": "a", "documents": ["a"], "relevant_spans": '
        content += b'{"threshold": ' + threshold + b"}}"
        answer = server.send("/v2/rerank", content)
        assert answer.status_code == 400 and set(answer.json()) == {"message"}


def test_documents_that_are_neither_text_nor_object(server):
    for document, match in (
        ({"title": "fox"}, "documents.1.object.text: Field required"),
        ({"text": None}, "documents.1.object.text: Input should be a valid string"),
        (7, "documents.1.text: Input should be a valid string"),
    ):
        answer = server.post("/v1/rerank", body("/v1/rerank", documents=["fox", document]))
        assert_refused("/v1/rerank", answer, (0, 422, 0), match)


def test_left_truncation_is_refused(server):
    answer = server.post("/rerank", body("/rerank", truncation_direction="Left"))
    assert_refused("/rerank", answer, (0, 0, 422), "only cut on the right")


def test_our_own_paths(server):
    assert server.post("/score", {"pairs": []}).status_code == 422
    assert server.post("/score", {"pairs": [{"query": "a"}]}).status_code == 422
    pairs = [{"query": "a", "document": "b"}] * (MAX_DOCUMENTS + 1)
    answer = server.post("/score", {"pairs": pairs})
    assert answer.json() == {"detail": "1001 pairs are too many; at most 1000"}
    answer = server.post("/search", {"query": ""})
    assert answer.json() == {"detail": "query must not be empty"}
    texts = {"query": "a " * 9000, "document": "b " * 9000}
    answer = server.post("/explain", texts)
    assert answer.status_code == 422 and "too many to explain" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"query": ""}, "query{} must not be empty"),
        ({"query": "x" * (MAX_CHARS + 1)}, "query{} has 20001 characters; at most 20000"),
        ({"document": "x" * (MAX_CHARS + 1)}, "document{} has 20001 characters; at most 20000"),
    ],
)
def test_pairs_are_named_by_their_place(server, change, match):
    pair = {"query": "fox", "document": "a fox"}
    answer = server.post("/score", {"pairs": [pair, {**pair, **change}]})
    assert (answer.status_code, answer.json()) == (422, {"detail": match.format(" of pair 1")})
    answer = server.post("/explain", {**pair, **change})
    assert (answer.status_code, answer.json()) == (422, {"detail": match.format("")})


def test_texts_are_not_logged(server):
    marker = "zanzibar"
    server.post("/v2/rerank", body("/v2/rerank", query=marker))
    server.get(f"/nothing/{marker}?q={marker}")
    server.post("/v2/rerank", body("/v2/rerank", query=marker, top_n=marker))
    log = server.wait_for_log("POST /v2/rerank 200", "GET other 404", "POST /v2/rerank 400")
    assert marker not in log and "Traceback" not in log

"""A scorer as the service sees it, and settings, keys and thresholds around it."""

import asyncio
import logging
from threading import Event

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError
from matchwork.inputs import Truncation
from matchwork.matcher import Matcher
from matchwork.rank import BM25, Calibration
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.rank.ranking import relevance
from matchwork.serve import Settings, create_app
from matchwork.serve.keys import KeyRing, needs_key, read_keys
from matchwork.serve.protocols import PROTOCOLS
from matchwork.serve.served import Served


def ask(app, path, body, **headers):
    """One request to an application without a socket."""

    async def run():
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            return await client.post(path, json=body, headers=headers)

    return asyncio.run(run())


def test_merged_requests_score_as_alone(matcher):
    served = Served("bag", matcher)
    requests = [[("red fox", "a fox")], [("whale", "fox " * 40), ("fox", "fox")], [("a", "")]]
    together = served.score(requests, Event())
    for pairs, merged in zip(requests, together, strict=True):
        (alone,) = served.score([pairs], Event())
        np.testing.assert_allclose(merged.scores, alone.scores, rtol=1e-6)
        assert merged.truncation == alone.truncation and merged.num_tokens == alone.num_tokens
    assert [merged.truncation for merged in together] == [
        Truncation(),
        Truncation(1, 10),
        Truncation(),
    ]


def test_cuts_of_pairs_that_share_room(tiny_matcher):
    matcher = tiny_matcher("cross-encoder")
    served, pairs = Served("cross", matcher), [("who " * 40, "wrote " * 40), ("who", "wrote")]
    (scored,) = served.score([pairs], Event())
    assert scored.truncation.tokens > 0
    assert [each.truncation for each in served.score([pairs, pairs], Event())] == [
        scored.truncation
    ] * 2


def test_cancelled_work_stops(matcher):
    cancelled = Event()
    cancelled.set()
    assert Served("bag", matcher).score([[("a", "b")]], cancelled) == []
    assert Served("bag", matcher).explain([[("a", "b")]], cancelled) == [[]]


def test_candidates_of_one_request_do_not_touch_another():
    served = Served("bm25", CandidateBM25())
    first, second = [("fox", "a fox"), ("fox", "b")], [("fox", "fox fox"), ("fox", "fox c")]
    together = served.score([first, second], Event())
    for pairs, merged in zip((first, second), together, strict=True):
        assert merged.scores.tolist() == BM25.fit([d for _, d in pairs]).score(pairs).tolist()
    assert served.scorer.rerank("fox", ["b", "a fox"])[0].document.text == "a fox"


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_relevance_keeps_the_order(values):
    scores = np.sort(np.array(values))
    for scorer in (BM25.fit(["a"]), _Plain()):
        given_scores = np.abs(scores) if isinstance(scorer, BM25) else scores
        values = relevance(scorer, np.sort(given_scores))
        assert (np.diff(values) >= 0).all() and (values >= 0).all() and (values <= 1).all()
    assert (np.diff(relevance(_Plain(), np.array([40.0, 50.0, 1e5]))) > 0).all()


class _Plain:
    name = "plain"

    def score(self, pairs):
        return np.array([np.nan if document == "broken" else 1.0 for _, document in pairs])

    def rerank(self, query, documents, top_k=None, threshold=None):
        raise AssertionError("the service orders scores by itself")


def test_relevance_is_the_calibrated_probability(matcher, tokenizer, tiny_matcher):
    scores = np.array([-1.0, 0.0, 3.0])
    np.testing.assert_array_equal(
        relevance(matcher, scores), matcher.calibration.probability(scores)
    )
    other = Matcher(tokenizer, tiny_matcher("bag").model, calibration=Calibration(2.0, 1.0))
    assert relevance(other, scores)[1] == pytest.approx(1 / (1 + np.exp(-1)))


def test_scores_that_are_no_numbers_are_a_fault():
    with pytest.raises(DataError, match="not finite"):
        Served("x", _Plain()).score([[("a", "broken")]], Event())
    answer = ask(create_app([_Plain()]), "/v2/rerank", _cohere(["broken", "fine"], "plain"))
    assert (answer.status_code, answer.json()) == (500, {"message": "internal error"})


def _cohere(documents, model="BM25"):
    return {"model": model, "query": "fox", "documents": documents}


def test_a_threshold_leaves_documents_out():
    index = BM25.fit(["fox", "whale"])
    documents = ["whale", "fox", "a b c fox"]
    everything = ask(create_app([index]), "/v2/rerank", _cohere(documents)).json()["results"]
    limit = everything[1]["relevance_score"]
    app = create_app([index], Settings(threshold=limit))
    assert ask(app, "/v2/rerank", _cohere(documents)).json()["results"] == everything[:2]
    assert len(ask(app, "/rerank", {"query": "fox", "texts": documents}).json()) == 3


@pytest.mark.parametrize("log_text", [False, True])
def test_texts_in_logs_on_request_only(log_text, caplog):
    app = create_app([BM25.fit(["fox"])], Settings(log_text=log_text))
    with caplog.at_level(logging.INFO, "matchwork.serve"):
        ask(app, "/v2/rerank", _cohere(["zanzibar"]))
    assert ("zanzibar" in caplog.text) is log_text
    assert "POST /v2/rerank 200" in caplog.text


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"max_batch": 0}, "max_batch must be at least 1, got 0"),
        ({"deadline_ms": -5}, "deadline_ms must be at least 1, got -5"),
        ({"max_wait_ms": 31_000}, "max_wait_ms must lie between 0 and deadline_ms"),
        ({"threshold": 1.5}, "threshold must lie between 0 and 1, got 1.5"),
    ],
)
def test_impossible_settings(changes, match):
    with pytest.raises(ConfigError, match=match):
        Settings(**changes)


def test_impossible_applications():
    with pytest.raises(ConfigError, match="nothing to serve"):
        create_app([])
    with pytest.raises(ConfigError, match="two models are named 'plain'"):
        create_app([_Plain(), _Plain()])


@given(st.lists(st.text("abcé", min_size=1, max_size=6), min_size=1, max_size=5), st.text("abcé"))
def test_only_known_keys_are_admitted(keys, other):
    ring = KeyRing(keys)
    assert all(ring.admits(f"Bearer {key}".encode()) for key in keys)
    assert ring.admits(f"bearer {other}".encode()) == (other in keys)
    assert not ring.admits(b"") and not ring.admits(keys[0].encode())
    assert not KeyRing(()).admits(b"")


def test_key_files(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("# ours\nfirst \n\nsecond\n")
    assert read_keys(path) == ("first", "second")
    assert needs_key("/v2/rerank") and needs_key("/metrics") and needs_key("/nothing")
    assert not needs_key("/health/live") and not needs_key("/")


def test_two_protocols_with_one_path(monkeypatch):
    monkeypatch.setitem(PROTOCOLS._entries, "again", PROTOCOLS["jina"])
    with pytest.raises(ConfigError, match="two protocols have the path '/v1/rerank'"):
        create_app([_Plain()])

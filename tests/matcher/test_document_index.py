"""Documents encoded once: the same scores, each text once, and a limit on memory."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import matchwork as mw
from matchwork.encode import load_transformer
from matchwork.errors import ConfigError, DataError
from matchwork.inputs import recorded_truncation
from matchwork.models import MODELS, MatchModel
from matchwork.rank import Calibration
from matchwork.types import Scorer

APART = [name for name in MODELS if issubclass(MODELS[name].model, MatchModel)]
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@pytest.fixture(scope="module")
def on_transformer(bert_folder):
    """`on_transformer(name)`: a model on a tiny transformer."""

    def make(name):
        torch.manual_seed(0)
        tokenizer, encoder = load_transformer(bert_folder)
        return mw.Matcher(tokenizer, MODELS[name].model(MODELS[name].config({}), encoder))

    return make


@pytest.mark.parametrize("name", APART)
def test_scores_are_those_of_the_matcher(tiny_matcher, pairs, name):
    matcher = tiny_matcher(name)
    documents = [document for _, document in pairs] + ["", "the sea"]
    matcher.max_pairs = 3
    index = matcher.index(documents)
    for query in ("who wrote hamlet", "", "the"):
        expected = matcher.score([(query, document) for document in documents])
        np.testing.assert_allclose(index.score_all(query), expected, **CLOSE)
        assert [each.document for each in index.search(query)] == [
            each.document for each in matcher.rerank(query, documents)
        ]


def test_an_index_is_a_scorer(tiny_matcher):
    matcher, documents = tiny_matcher("bag"), ["the sea", "who wrote hamlet", "the louvre"]
    matcher.calibration = Calibration(2.0, -1.0)
    index = matcher.index(documents)
    assert isinstance(index, Scorer) and index.name == "bag"
    pairs = [("the sea", "the louvre"), ("hamlet", "who wrote hamlet"), ("hamlet", "the sea")]
    np.testing.assert_allclose(index.score(pairs), matcher.score(pairs), **CLOSE)
    hits = index.rerank("hamlet", documents[1:], threshold=0.01)
    expected = matcher.rerank("hamlet", documents[1:], threshold=0.01)
    assert [hit.document for hit in hits] == [hit.document for hit in expected]
    with pytest.raises(DataError, match="no indexed document has the text 'x'; index it first"):
        index.score([("hamlet", "x")])


@pytest.mark.parametrize("name", ["bi-encoder", "colbert"])
@settings(max_examples=15)
@given(documents=st.lists(st.text("abehrow ,é", max_size=12), max_size=7))
def test_any_documents_on_a_transformer(on_transformer, name, documents):
    matcher = on_transformer(name)
    index = matcher.index(documents)
    expected = matcher.score([("who wrote", document) for document in documents])
    np.testing.assert_allclose(index.score_all("who wrote"), expected, **CLOSE)
    assert len(index) == len(documents)


def test_a_bi_encoder_keeps_one_vector_per_text(on_transformer):
    matcher = on_transformer("bi-encoder")
    index = matcher.index(["who wrote hamlet and where", "bamboo"])
    assert index.num_bytes == 2 * (16 * 4 + 1)
    assert on_transformer("colbert").index(["who wrote hamlet"]).num_bytes > 3 * 16 * 4


def count_rows(matcher):
    """How many texts the transformer reads from now on."""
    seen = []
    embeddings = matcher.model.encoder.transformer.embeddings
    embeddings.register_forward_hook(lambda module, given, vectors: seen.append(len(vectors)))
    return seen


def test_identical_documents_are_encoded_once(on_transformer):
    documents = ["bamboo, nothing but bamboo"] * 3000 + ["the sea"]
    matcher = on_transformer("colbert")
    seen = count_rows(matcher)
    index = matcher.index(documents)
    assert sum(seen) == 2
    scores = index.score_all("what do pandas eat")
    assert sum(seen) == 3 and len(set(scores)) == 2
    ranked = matcher.rerank("what do pandas eat", documents)
    assert sum(seen) == 3 + 3 and len(ranked) == 3001  # two pairs of three texts
    np.testing.assert_allclose(sorted(r.score for r in ranked), sorted(scores), **CLOSE)


def test_identical_pairs_are_read_once_by_a_cross_encoder(tiny_matcher, pairs):
    matcher = tiny_matcher("cross-encoder")
    expected = matcher.score(pairs)
    seen, done = count_rows(matcher), []
    scores = matcher.score([pair for pair in pairs for _ in range(500)], done.append)
    assert sum(seen) == len(pairs) and sum(done) == 500 * len(pairs)
    np.testing.assert_allclose(scores, np.repeat(expected, 500), **CLOSE)


def test_more_than_may_be_kept_is_refused(on_transformer):
    with pytest.raises(ConfigError, match=r"vectors of 2 texts take more than max_bytes = 200; ra"):
        on_transformer("colbert").index(["who wrote hamlet", "the sea"], max_bytes=200)


def test_a_cross_encoder_has_no_index(tiny_matcher):
    with pytest.raises(ConfigError, match=r"cross-encoder reads a document together with its que"):
        tiny_matcher("cross-encoder").index(["text"])


def test_cut_documents_are_counted(on_transformer):
    matcher = on_transformer("bi-encoder")
    matcher.max_document_length = 3
    with recorded_truncation() as cut:
        matcher.index(["who wrote hamlet and where is the louvre"])
    assert cut.total.texts == 1 and cut.total.tokens > 3

"""Each text of a batch is read once, and scores are those of pairs that are read one by one."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import matchwork as mw
from matchwork.encode import load_transformer
from matchwork.matcher.encode_once import batches_by_document
from matchwork.models import MODELS, MatchModel

APART = [name for name in MODELS if issubclass(MODELS[name].model, MatchModel)]
QUERIES = ["who wrote hamlet", "the sea", ""]
DOCUMENTS = ["hamlet was written by shakespeare", "the sea is deep", "bamboo", ""]
PAIRS = [(query, document) for query in QUERIES for document in DOCUMENTS]
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)


@pytest.fixture(scope="module")
def on_transformer(bert_folder):
    def make(name, **vectors):
        torch.manual_seed(0)
        tokenizer, encoder = load_transformer(bert_folder, **vectors)
        return mw.Matcher(tokenizer, MODELS[name].model(MODELS[name].config({}), encoder))

    return make


def texts_read(matcher, pairs):
    """How many texts go through the transformer."""
    seen = []
    hook = matcher.model.encoder.register_forward_pre_hook(
        lambda _, inputs: seen.append(len(inputs[0].ids))
    )
    matcher.score(pairs)
    hook.remove()
    return sum(seen)


@pytest.mark.parametrize("name", APART)
def test_scores_are_those_of_single_pairs(on_transformer, name):
    matcher = on_transformer(name)
    alone = [matcher.output(*pair).scores.item() for pair in PAIRS]
    for max_pairs in (1, 5, 100):
        matcher.max_pairs = max_pairs
        np.testing.assert_allclose(matcher.score(PAIRS), alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("max_pairs", [2, len(QUERIES), 100])
def test_texts_of_several_batches_are_not_read_again(on_transformer, max_pairs):
    matcher = on_transformer("bi-encoder")
    matcher.max_pairs = max_pairs
    again = len(DOCUMENTS) * (max_pairs == 2)  # three pairs of each are cut in two
    assert texts_read(matcher, PAIRS) == len(QUERIES) + len(DOCUMENTS) + again


@pytest.mark.parametrize("name", APART)
def test_more_queries_than_are_kept_are_read_once_a_batch(on_transformer, name, monkeypatch):
    matcher = on_transformer(name)
    matcher.max_pairs = len(QUERIES)
    kept = matcher.score(PAIRS)
    monkeypatch.setattr("matchwork.matcher.encode_once._MAX_CACHED_BYTES", 0)
    np.testing.assert_allclose(matcher.score(PAIRS), kept, rtol=1e-4, atol=1e-5)
    assert texts_read(matcher, PAIRS) == len(DOCUMENTS) * (len(QUERIES) + 1)


def test_texts_that_see_each_other_are_read_in_pairs(on_transformer):
    matcher = on_transformer("colbert", cross_encode=True)
    alone = [matcher.output(*pair).scores.item() for pair in PAIRS]
    np.testing.assert_allclose(matcher.score(PAIRS), alone, rtol=1e-4, atol=1e-5)


@settings(max_examples=50)
@given(rows=ROWS, max_tokens=st.integers(1, 60), max_pairs=st.integers(1, 9))
def test_batches_hold_every_pair_once_within_their_limits(rows, max_tokens, max_pairs):
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    queries, documents = table[:, 0] + 1, 3 * (table[:, 1] // 2) + 1
    batches = batches_by_document(queries, documents, table[:, 1], max_tokens, max_pairs)
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    for batch in batches:
        width = queries[batch].max() + documents[batch].max()
        assert len(batch) <= max_pairs
        assert len(batch) == 1 or len(batch) * width <= max_tokens
    order = [table[row, 1] for batch in batches for row in batch]
    changes = sum(a != b for a, b in pairwise(order))
    assert changes == max(0, len(set(order)) - 1)  # pairs of one document stay together

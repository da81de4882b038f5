from math import log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.text import (
    PairBatch,
    Sequences,
    TokenTable,
    batches_by_length,
    inverse_document_frequency,
)
from matchwork.text.batch import DeviceTokens

rows = st.lists(st.lists(st.integers(1, 2**60), max_size=6), max_size=8)


@given(rows=rows, data=st.data())
def test_gather_gives_the_rows(rows: list[list[int]], data: st.DataObject) -> None:
    table = TokenTable.from_rows(rows)
    assert [table[i].tolist() for i in range(len(table))] == rows
    indices = st.lists(st.integers(0, len(rows) - 1), max_size=5) if rows else st.just([])
    chosen = data.draw(indices)
    batch = table.gather(np.array(chosen, dtype=np.int64))
    assert batch.ids.dtype == torch.int64
    assert batch.ids.shape[1] == max([1, *(len(rows[i]) for i in chosen)])
    for row, index in enumerate(chosen):
        assert batch.ids[row][batch.mask[row]].tolist() == rows[index]
        assert (batch.ids[row][~batch.mask[row]] == 0).all()
        length = int(batch.lengths[row])
        assert batch.mask[row, :length].all() and not batch.mask[row, length:].any()


@given(rows=rows, data=st.data())
def test_a_device_gathers_the_same(rows: list[list[int]], data: st.DataObject) -> None:
    table = TokenTable.from_rows(rows)
    there = DeviceTokens(table, "cpu")
    indices = st.lists(st.integers(0, len(rows) - 1), max_size=5) if rows else st.just([])
    chosen = np.array(data.draw(indices), dtype=np.int64)
    batch, expected = there.gather(chosen), table.gather(chosen)
    assert batch.ids.dtype == torch.int64
    assert torch.equal(batch.ids, expected.ids) and torch.equal(batch.mask, expected.mask)
    assert np.array_equal(there.lengths, table.lengths)


def test_tokens_move_only_where_there_is_a_device() -> None:
    table = TokenTable.from_rows([[1, 2], [3]])
    assert table.to("cpu") is table
    batch = table.to("meta").gather(np.array([0, 1]))  # a device whose shapes are all it has
    assert batch.ids.device.type == batch.mask.device.type == "meta"
    assert batch.ids.shape == (2, 2)


@given(rows=rows, limit=st.integers(1, 6))
def test_truncation_is_counted(rows: list[list[int]], limit: int) -> None:
    table = TokenTable.from_rows(rows, limit)
    assert [table[i].tolist() for i in range(len(rows))] == [row[:limit] for row in rows]
    assert table.num_cut_texts == sum(len(row) > limit for row in rows)
    assert table.num_cut_tokens == sum(len(row[limit:]) for row in rows)


def test_pad_sets_rows_side_by_side() -> None:
    batch = Sequences.pad([[5, 6, 7], [], [8]])
    assert batch.ids.tolist() == [[5, 6, 7], [0, 0, 0], [8, 0, 0]]
    assert batch.mask.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    assert batch.lengths.tolist() == [3, 0, 1]


def test_moving_keeps_ids_and_mask_together() -> None:
    batch = PairBatch(Sequences.pad([[1, 2]]), Sequences.pad([[3]])).to("cpu")
    assert len(batch) == 1
    assert batch.query.ids.tolist() == [[1, 2]] and batch.query.mask.all()


def test_a_mask_fits_its_ids() -> None:
    ids = torch.ones(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"ids have shape \(2, 3\), their mask \(2, 2\)"):
        Sequences(ids, torch.ones(2, 2, dtype=torch.bool))
    with pytest.raises(TypeError, match=r"a mask is bool .* got torch.int64"):
        Sequences(ids, torch.ones(2, 3, dtype=torch.int64))


def test_both_sides_have_as_many_rows() -> None:
    with pytest.raises(ValueError, match="2 queries for 1 documents"):
        PairBatch(Sequences.pad([[1], [2]]), Sequences.pad([[1]]))


@given(
    lengths=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40),
    max_tokens=st.integers(1, 200),
    max_pairs=st.integers(1, 10),
)
def test_batches_hold_every_pair_once_within_the_limits(
    lengths: list[tuple[int, int]], max_tokens: int, max_pairs: int
) -> None:
    queries, documents = np.array(lengths, dtype=np.int64).reshape(-1, 2).T
    batches = batches_by_length(queries, documents, max_tokens, max_pairs)
    together = np.concatenate(batches) if batches else np.empty(0, np.int64)
    assert sorted(together.tolist()) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * (queries[batch].max() + documents[batch].max())
        assert 1 <= len(batch) <= max_pairs
        assert padded <= max_tokens or len(batch) == 1
    heads = [documents[batch].max() for batch in batches]
    assert heads == sorted(heads, reverse=True)


def test_batches_waste_little() -> None:
    random = np.random.default_rng(0)
    queries = random.integers(3, 12, size=2000)
    documents = np.maximum(1, random.lognormal(3.8, 0.7, size=2000)).astype(np.int64)
    batches = batches_by_length(queries, documents, 16_384, 256)
    padded = sum(len(b) * (queries[b].max() + documents[b].max()) for b in batches)
    assert padded < 1.35 * (queries.sum() + documents.sum())


VOCABULARY = 7
corpora = st.lists(st.lists(st.sampled_from([0, 2, 3, 6, 7, 2**60]), max_size=7), max_size=6)


@given(corpus=corpora)
def test_inverse_document_frequency(corpus: list[list[int]]) -> None:
    found = inverse_document_frequency(TokenTable.from_rows(corpus), VOCABULARY)
    frequency = [sum(word in text for text in corpus) for word in range(VOCABULARY)]
    expected = [log((1 + len(corpus)) / (1 + count)) + 1 for count in frequency]
    np.testing.assert_allclose(found, expected, rtol=1e-15)

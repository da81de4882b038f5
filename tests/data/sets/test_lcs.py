from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data import CATALOGUE, load
from matchwork.data.dataset import Dataset
from matchwork.data.sets.lcs import LETTERS, MAX_LENGTH, lcs, lcs_table

strings = st.text("ABC", max_size=7)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return lcs()


def subsequences(text: str) -> set[str]:
    return {"".join(s) for size in range(len(text) + 1) for s in combinations(text, size)}


@given(query=strings, document=strings)
def test_the_table_holds_the_longest_common_subsequence(query, document):
    table = lcs_table(query, document)
    assert table.shape == (len(query) + 1, len(document) + 1)
    assert not table[0].any() and not table[:, 0].any()
    longest = max(map(len, subsequences(query) & subsequences(document)))
    assert table[-1, -1] == longest
    np.testing.assert_array_equal(table.T, lcs_table(document, query))


def test_sizes_lengths_and_letters(dataset):
    assert {name: len(split.queries) for name, split in dataset.splits.items()} == {
        "train": 10_000,
        "dev": 1_000,
        "test": 1_000,
    }
    texts = [
        side.split() for pair in dataset["train"].pairs() for side in (pair.query, pair.document)
    ]
    lengths = np.bincount([len(text) for text in texts], minlength=MAX_LENGTH + 1)
    assert lengths[0] == 0 and len(lengths) == MAX_LENGTH + 1
    np.testing.assert_allclose(lengths[1:] / len(texts), 0.1, atol=0.02)  # uniform
    assert {letter for text in texts for letter in text} == set(LETTERS)


def test_labels_are_lengths_and_targets_stay_below_one(dataset):
    for split in dataset.splits.values():
        assert split.label_scale == 10
        for pair in list(split.pairs())[:200]:
            assert pair.label == lcs_table(pair.query.split(), pair.document.split())[-1, -1]
        assert max(pair.label for pair in split.pairs()) <= split.label_scale


def test_the_same_pairs_every_time_and_others_in_every_split(dataset):
    assert lcs().splits == dataset.splits
    pairs = {
        name: [(pair.query, pair.document) for pair in split.pairs()]
        for name, split in dataset.splits.items()
    }
    assert pairs["dev"] != pairs["test"] != pairs["train"][:1_000]
    shared = set(pairs["test"]) & set(pairs["train"])
    assert len(shared) < 0.05 * len(pairs["test"])
    assert all(len(query + document) < 16 for query, document in shared)  # short ones only


def test_it_is_in_the_catalogue(dataset):
    entry = CATALOGUE["lcs"]
    loaded = load("lcs", splits=["test"])
    assert list(loaded.splits) == ["test"]
    assert (loaded.task, loaded.measures) == (entry.task, entry.measures)
    assert loaded.task == "regression"

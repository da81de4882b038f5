import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig, WordVectors
from matchwork.encode.word_embedding import CONSTANT_UNKNOWN, hashed_vectors
from matchwork.errors import ConfigError
from matchwork.text import Sequences, Vocabulary, WordTokenizer, word_hash


def slow_hashed(number: int, dim: int) -> list[float]:
    """splitmix64 with Python's unbounded integers."""
    mask, out = (1 << 64) - 1, []
    for j in range(1, dim + 1):
        z = (number * 0xBF58476D1CE4E5B9 + j * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        out.append((2 * ((z >> 40) / (1 << 24)) - 1) * math.sqrt(3 / dim))
    return out


@given(number=st.integers(0, (1 << 61) - 1), dim=st.integers(1, 6))
def test_hashed_vectors_are_splitmix(number: int, dim: int) -> None:
    found = hashed_vectors(torch.tensor([number]), dim)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found[0].numpy(), slow_hashed(number, dim), rtol=1e-6, atol=1e-7)
    assert found.abs().max() <= math.sqrt(3 / dim) * (1 + 1e-6)


def test_hashed_vectors_look_uniform_and_unrelated() -> None:
    hashes = torch.tensor([word_hash(f"word{i}") for i in range(2000)])
    values = hashed_vectors(hashes, 30).double().numpy() / math.sqrt(3 / 30)
    counts, _ = np.histogram(values, bins=20, range=(-1, 1))
    expected = values.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 45  # chi square, 19 degrees: p < .001
    assert abs(values.mean()) < 0.01
    lengths = np.linalg.norm(values, axis=1)
    cosines = (values @ values.T) / lengths[:, None] / lengths[None, :]
    assert np.abs(cosines[np.triu_indices(2000, 1)]).max() < 0.95
    assert np.abs(np.corrcoef(values.T) - np.eye(30)).max() < 0.12
    consecutive = hashed_vectors(torch.arange(2000), 30).numpy()  # the default table
    assert np.abs(np.corrcoef(consecutive.T) - np.eye(30)).max() < 0.12


@pytest.mark.parametrize("unknown", ["hash", "const"])
def test_a_word_without_a_vector_looks_the_same_in_and_out_of_the_vocabulary(unknown: str) -> None:
    file = WordVectors(["known"], np.ones((1, 4)))
    inside = WordTokenizer.fit(["known strange"])
    outside = WordTokenizer.fit(["known"])
    rows = []
    for tokenizer in (inside, outside):
        encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, file, unknown=unknown)
        (vectors,) = encoder(tokenizer.encode(["strange known odd"]).gather(np.array([0]))).vectors
        rows.append(vectors)
    assert torch.equal(rows[0], rows[1])
    strange, known, odd = rows[0]
    assert (known == 1).all()
    assert torch.equal(strange, odd) is (unknown == "const")
    if unknown == "const":
        assert (strange == CONSTANT_UNKNOWN).all()
    else:
        assert torch.equal(strange, hashed_vectors(torch.tensor([word_hash("strange")]), 4)[0])


@given(st.lists(st.sampled_from(["a", "b", "zz", "yy"]), min_size=1, max_size=5), st.booleans())
def test_equal_words_have_equal_vectors(words: list[str], trainable: bool) -> None:
    tokenizer = WordTokenizer.fit(["a b"])
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=5, trainable=trainable)
    (vectors,) = encoder(tokenizer.encode([" ".join(words)]).gather(np.array([0]))).vectors
    for i, first in enumerate(words):
        for j, second in enumerate(words):
            assert torch.equal(vectors[i], vectors[j]) is (first == second)


def test_training_moves_the_table_only_when_told_to() -> None:
    vocabulary = Vocabulary(["a", "b"])
    frozen = WordEmbedding.from_vocabulary(vocabulary, dim=3)
    assert not list(frozen.parameters()) and frozen.frozen_names() == {"table"}
    moving = WordEmbedding.from_vocabulary(vocabulary, dim=3, trainable=True)
    assert [name for name, _ in moving.named_parameters()] == ["table"]
    assert moving.frozen_names() == set()
    sequences = Sequences(torch.tensor([[2, 10**9, 3]]), torch.tensor([[True, True, False]]))
    moving(sequences).vectors.sum().backward()
    assert moving.table.grad is not None
    assert moving.table.grad.abs().sum(dim=1).tolist() == [0, 0, 3, 0]


def test_padding_may_hold_any_id() -> None:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=4, dim=3))
    sequences = Sequences(torch.tensor([[-100, 2, 10**15]]), torch.tensor([[False, True, False]]))
    vectors = encoder(sequences).vectors
    assert (vectors[0, [0, 2]] == 0).all() and vectors[0, 1].abs().sum() > 0


def test_a_table_has_a_row_per_word() -> None:
    with pytest.raises(ConfigError, match=r"shape \(3, 2\), expected \(4, 2\): one row per word"):
        WordEmbedding(WordEmbeddingConfig(vocab_size=4, dim=2), torch.zeros(3, 2))
    with pytest.raises(ConfigError, match="vocab_size must be at least 2, got 1"):
        WordEmbeddingConfig(vocab_size=1, dim=0)


@pytest.mark.parametrize("garbage", [5.0, float("inf"), float("nan")])
def test_encoded_clears_its_padding(garbage: float) -> None:
    mask = torch.tensor([[True, False], [False, False]])
    side = Encoded(torch.full((2, 2, 3), garbage), mask)
    assert (side.vectors[~mask] == 0).all()
    assert (len(side), side.dim) == (2, 3)


def test_repeat_and_tile() -> None:
    side = Encoded(torch.tensor([[[1.0]], [[2.0]]]), torch.ones(2, 1, dtype=torch.bool))
    assert side.repeat_each(2).vectors.flatten().tolist() == [1, 1, 2, 2]
    assert side.tile(2).vectors.flatten().tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("named", [True, False])
def test_parts_are_put_together_and_cut_again(named: bool) -> None:
    short, long = (
        Encoded(
            torch.full((num, length, 2), float(num)),
            torch.ones(num, length, dtype=torch.bool),
            torch.full((num, length), num) if named else None,
            None if named else torch.full((num, 1, 2), 9.0),
        )
        for num, length in ((1, 2), (2, 5))
    )
    both = Encoded.concatenate([short, long])
    assert both.vectors[..., 0].tolist() == [[1, 1, 0, 0, 0], [2] * 5, [2] * 5]
    assert both.mask.sum(dim=1).tolist() == [2, 5, 5]
    if named:
        assert both.ids is not None and both.special_vectors is None
        assert both.ids.tolist() == [[1, 1, 0, 0, 0], [2] * 5, [2] * 5]
    else:
        assert (
            both.ids is None
            and both.special_vectors is not None
            and both.special_vectors.shape == (3, 1, 2)
        )
    again = both.take(torch.tensor([0])).cut(2)
    assert torch.equal(again.vectors, short.vectors) and torch.equal(again.mask, short.mask)


def test_encoded_fits_its_mask() -> None:
    with pytest.raises(ValueError, match=r"expected \(batch, length, dim\) and \(batch, length\)"):
        Encoded(torch.zeros(2, 3, 4), torch.ones(2, 2, dtype=torch.bool))
    with pytest.raises(TypeError, match="a mask is bool"):
        Encoded(torch.zeros(2, 3, 4), torch.ones(2, 3))

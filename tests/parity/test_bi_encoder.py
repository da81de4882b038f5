"""The bi-encoder against means and cosines in plain NumPy."""

import numpy as np
import pytest
import torch

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import BiEncoder, BiEncoderConfig

DIM, SPECIALS = 4, 2


def bi_encoder(**settings: object) -> BiEncoder:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM))
    return BiEncoder(BiEncoderConfig(**settings), encoder).double()


def sides(lengths: list[int], seed: int) -> tuple[list[np.ndarray], np.ndarray, Encoded]:
    """Token vectors of every row, its special tokens, and both as the model gets them."""
    random = np.random.default_rng(seed)
    rows = [random.normal(size=(length, DIM)) for length in lengths]
    frame = random.normal(size=(len(rows), SPECIALS, DIM))
    vectors = torch.full((len(rows), max(lengths) + 1, DIM), 5.0, dtype=torch.float64)
    mask = torch.arange(max(lengths) + 1) < torch.tensor(lengths)[:, None]
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
    return rows, frame, Encoded(vectors, mask, special_vectors=torch.from_numpy(frame))


def slow_vector(tokens: np.ndarray, specials: np.ndarray, pooling: str) -> np.ndarray:
    if pooling == "cls":
        return specials[0]
    total = np.zeros(DIM)
    for vector in [*tokens, *specials]:
        total += vector
    return total / (len(tokens) + len(specials))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_scores(pooling: str, similarity: str) -> None:
    model = bi_encoder(pooling=pooling, similarity=similarity, scale=3.0)
    queries, query_frames, query = sides([3, 1, 0], seed=0)
    documents, document_frames, document = sides([2, 4, 3], seed=1)
    output, scale = model.match(query, document), model.log_scale.exp().item()
    table = model.match_all(query, document)
    for i in range(3):
        q = slow_vector(queries[i], query_frames[i], pooling)
        for j in range(3):
            d = slow_vector(documents[j], document_frames[j], pooling)
            expected = scale * q @ d
            if similarity == "cosine":
                expected /= np.sqrt(q @ q) * np.sqrt(d @ d)
            assert table[i, j].item() == pytest.approx(expected, abs=1e-12)
            if i == j:
                assert output.scores[i].item() == pytest.approx(expected, abs=1e-12)
    small = model.match(model.condense(query), model.condense(document))
    torch.testing.assert_close(small.scores, output.scores)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_shares_and_special_tokens_make_the_score(similarity: str) -> None:
    model = bi_encoder(similarity=similarity)
    _, _, query = sides([3, 1], seed=0)
    _, _, document = sides([2, 4], seed=1)
    bare = [Encoded(side.vectors, side.mask) for side in (query, document)]
    output = model.match(*bare)
    shares = output.evidence["contribution"].values.sum(dim=(1, 2))
    torch.testing.assert_close(shares, output.scores)
    framed = model.match(query, document)
    assert not torch.allclose(framed.evidence["contribution"].values.sum((1, 2)), framed.scores)


def test_gradients() -> None:
    model = bi_encoder()
    _, _, query = sides([3, 2], seed=0)
    _, _, document = sides([2, 4], seed=1)

    def scores(q: torch.Tensor, f: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
        encoded = Encoded(q, query.mask, special_vectors=f)
        return model.match(encoded, Encoded(d, document.mask)).scores

    leaves = (query.vectors, query.special_vectors, document.vectors)
    assert torch.autograd.gradcheck(scores, [leaf.clone().requires_grad_() for leaf in leaves])


def test_scale_must_be_positive() -> None:
    with pytest.raises(ConfigError, match=r"scale must be positive, got 0"):
        BiEncoderConfig(scale=0.0)

"""The bag matcher against a plain NumPy cosine of summed vectors."""

import numpy as np
import pytest
import torch

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import BagMatcher, BagMatcherConfig

DIM = 4


def bag(scale: float = 20.0) -> BagMatcher:
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM))
    return BagMatcher(BagMatcherConfig(scale=scale), encoder).double()


def slow_cosine(query: np.ndarray, document: np.ndarray) -> float:
    q, d = np.zeros(DIM), np.zeros(DIM)
    for vector in query:
        q += vector
    for vector in document:
        d += vector
    return float(q @ d / max(np.sqrt(q @ q) * np.sqrt(d @ d), 1e-8))


def sides(lengths: list[int], seed: int) -> tuple[list[np.ndarray], Encoded]:
    random = np.random.default_rng(seed)
    rows = [random.normal(size=(length, DIM)) for length in lengths]
    vectors = torch.full((len(rows), max(lengths) + 1, DIM), 5.0, dtype=torch.float64)
    mask = torch.arange(max(lengths) + 1) < torch.tensor(lengths)[:, None]
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
    return rows, Encoded(vectors, mask)


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_scores_are_scaled_cosines(scale: float) -> None:
    queries, query = sides([3, 1, 4, 0], seed=0)
    documents, document = sides([2, 5, 1, 3], seed=1)
    model = bag(scale)
    assert model.log_scale.exp().item() == pytest.approx(scale, rel=1e-6)
    factor = model.log_scale.exp().item()
    output = model.match(query, document)
    for row, (q, d) in enumerate(zip(queries, documents, strict=True)):
        assert output.scores[row].item() == pytest.approx(factor * slow_cosine(q, d), abs=1e-10)
    shares = output.evidence["contribution"].values.sum(dim=(1, 2))
    torch.testing.assert_close(shares, output.scores, rtol=1e-10, atol=1e-10)


def test_gradients() -> None:
    model = bag()
    _, query = sides([3, 2], seed=0)
    _, document = sides([2, 4], seed=1)

    def scores(*inputs: torch.Tensor) -> torch.Tensor:
        log_scale, q, d = inputs
        return torch.func.functional_call(
            Matching(model), {"model.log_scale": log_scale}, (q, query.mask, d, document.mask)
        )

    leaves = (model.log_scale, query.vectors, document.vectors)
    inputs = [tensor.detach().clone().requires_grad_() for tensor in leaves]
    assert torch.autograd.gradcheck(scores, inputs)


class Matching(torch.nn.Module):
    def __init__(self, model: BagMatcher) -> None:
        super().__init__()
        self.model = model

    def forward(self, q, q_mask, d, d_mask):
        return self.model.match(Encoded(q, q_mask), Encoded(d, d_mask)).scores


def test_scale_must_be_positive() -> None:
    with pytest.raises(ConfigError, match=r"scale must be positive, got -1\.0"):
        BagMatcherConfig(scale=-1.0)

"""K-NRM against NumPy loops over the paper's equations: values and gradients in float64."""

from typing import Any

import numpy as np
import pytest
import torch

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.errors import ConfigError
from matchwork.models import KNRM, KNRMConfig

DIM = 5
LENGTHS = [(3, 4), (1, 6), (5, 1), (2, 2), (0, 3), (3, 0)]
VARIANTS = [
    pytest.param({}, id="paper"),
    pytest.param({"gate": "length"}, id="length"),
    pytest.param({"num_kernels": 4, "sigma": 0.3, "exact_sigma": 0.05}, id="few kernels"),
]


def knrm(**config: Any) -> KNRM:
    torch.manual_seed(0)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM))
    return KNRM(KNRMConfig(**config), encoder).double()


def slow_score(
    query: np.ndarray, document: np.ndarray, weights: np.ndarray, bias: float, config: KNRMConfig
) -> float:
    soft = config.num_kernels - 1
    kernels = [(1.0, config.exact_sigma)]
    kernels += [(1 - 2 / soft * (k + 0.5), config.sigma) for k in range(soft)]
    kernels = np.float32(kernels).astype(np.float64).tolist()  # constants in single precision
    lengths = [float(np.sqrt(word @ word)) for word in query]
    score = bias
    for i, word in enumerate(query):
        gate = 1.0 if config.gate == "none" else lengths[i] / max(sum(lengths), 1e-8)
        for (centre, width), weight in zip(kernels, weights, strict=True):
            count = 0.0
            for other in document:
                cos = word @ other / max(lengths[i] * float(np.sqrt(other @ other)), 1e-8)
                count += np.exp(-((cos - centre) ** 2) / (2 * width**2))
            score += gate * weight * np.log(1 + count)
    return float(score)


def texts(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(seed)
    made = [(random.normal(size=(m, DIM)), random.normal(size=(n, DIM))) for m, n in LENGTHS]
    made[0][1][2] = 2 * made[0][0][1]  # the kernel of exact matches has something to count
    return made


def side(rows: list[np.ndarray]) -> Encoded:
    width = max(map(len, rows)) + 1
    vectors = torch.full((len(rows), width, DIM), 7.0, dtype=torch.float64)
    mask = torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
    return Encoded(vectors, mask)


def slow_of(model: KNRM, query: np.ndarray, document: np.ndarray) -> float:
    weights = model.score.weight[0].detach().numpy().astype(np.float64)
    return slow_score(query, document, weights, model.score.bias.item(), model.config)


@pytest.mark.parametrize("config", VARIANTS)
def test_scores(config: dict[str, Any]) -> None:
    model, pairs = knrm(**config), texts(seed=1)
    output = model.match(side([q for q, _ in pairs]), side([d for _, d in pairs]))
    expected = [slow_of(model, q, d) for q, d in pairs]
    torch.testing.assert_close(
        output.scores, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-10
    )
    shares = output.evidence["query_contribution"].values.sum(dim=1)
    torch.testing.assert_close(shares + model.score.bias, output.scores)


@pytest.mark.parametrize("config", VARIANTS)
def test_gradients_of_the_weights_and_vectors(config: dict[str, Any]) -> None:
    """Central differences of the slow version, number by number."""
    # A kernel as narrow as the paper's for exact matches has no usable difference quotient.
    model = knrm(**{"exact_sigma": 0.05, **config})
    query, document = texts(seed=2)[0]
    q = torch.tensor(query[None], requires_grad=True)
    d = torch.tensor(document[None], requires_grad=True)
    ones = [torch.ones(1, len(rows), dtype=torch.bool) for rows in (query, document)]
    model.match(Encoded(q, ones[0]), Encoded(d, ones[1])).scores.sum().backward()

    weights, bias = model.score.weight[0].detach().numpy().copy(), model.score.bias.item()

    def difference(array: np.ndarray, place: tuple[int, ...]) -> float:
        values = []
        for step in (1e-6, -1e-6):
            array[place] += step
            values.append(slow_score(query, document, weights, bias, model.config))
            array[place] -= step
        return (values[0] - values[1]) / 2e-6

    assert q.grad is not None and d.grad is not None and model.score.weight.grad is not None
    for array, gradient in (
        (query, q.grad[0]),
        (document, d.grad[0]),
        (weights, model.score.weight.grad[0]),
    ):
        for place in np.ndindex(*array.shape):
            assert float(gradient[place]) == pytest.approx(
                difference(array, place), rel=1e-4, abs=1e-5
            )


def test_settings_out_of_range() -> None:
    with pytest.raises(ConfigError, match="num_kernels must be at least 2, got 1"):
        KNRMConfig(num_kernels=1)
    with pytest.raises(ConfigError, match=r"^sigma must be positive, got 0\.0"):
        KNRMConfig(sigma=0.0)
    with pytest.raises(ConfigError, match="exact_sigma must be positive"):
        KNRMConfig(exact_sigma=-1.0)

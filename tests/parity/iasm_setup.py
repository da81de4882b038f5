"""Models, ragged batches and their reference, as the IASM tests make them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from iasm_reference import Array, CNNWeights, Trace, Weights, iasm
from torch import Tensor

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import IASM, MODELS, IASMConfig
from matchwork.models.iasm.grid_cnn import GridCNN
from matchwork.models.iasm.interactive_layers import Layers

K = 5
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}  # to central differences
LENGTHS = [(4, 3), (1, 6), (5, 1), (2, 2)]
OTHER_WEIGHTS = {"alpha": 0.4, "beta": 1.3, "gamma": 0.9, "delta": 0.2}
NAMES = [name for name in MODELS if name.startswith("iasm-")]
VARIANTS = [
    pytest.param(
        {"num_layers": depth, "update": update, "norm": norm, **weights},
        id=f"{update}-{depth}-{norm}{'-weights' if weights else ''}",
    )
    for update in ("static", "dynamic")
    for depth in (1, 3, 5)
    for norm, weights in (("matrix", {}), ("row", {}), ("matrix", OTHER_WEIGHTS))
]
Texts = list[tuple[Array, Array]]


def model(seed: int = 0, dim: int = K, **config: Any) -> IASM:
    torch.manual_seed(seed)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=dim))
    made = IASM(IASMConfig(**config), encoder).double()
    with torch.no_grad():  # larger than the initial values: every layer bends something
        for parameter in (made.Wq, made.Wd, made.bq, made.bd):
            parameter.mul_(2.0)
    return made


def named(name: str, seed: int = 0, dim: int = K, **config: Any) -> IASM:
    """A model as its registered name makes it."""
    return model(seed, dim, **{**MODELS[name].preset, **config})


def identity(**config: Any) -> IASM:
    made = model(dim=2, update="static", **config)
    with torch.no_grad():
        for projection in (made.Wq, made.Wd):
            projection.copy_(torch.eye(2, dtype=torch.float64).expand_as(projection))
        made.bq.zero_()
        made.bd.zero_()
    return made


def texts(seed: int = 0, dim: int = K, lengths: list[tuple[int, int]] | None = None) -> Texts:
    random = np.random.default_rng(seed)
    return [
        (random.normal(size=(m, dim)), random.normal(size=(n, dim))) for m, n in lengths or LENGTHS
    ]


def side(rows: list[Array], garbage: float = 9.0, extra: int = 1) -> Encoded:
    width = max(len(row) for row in rows) + extra
    vectors = torch.full((len(rows), width, rows[0].shape[1]), garbage, dtype=torch.float64)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
        mask[i, : len(row)] = True
    return Encoded(vectors, mask)


def sides(examples: Texts, extra: int = 1) -> tuple[Encoded, Encoded]:
    """A ragged batch with garbage in its padding."""
    return side([q for q, _ in examples], extra=extra), side([d for _, d in examples], extra=extra)


def with_leaves(examples: Texts) -> tuple[tuple[Encoded, Encoded], list[Tensor]]:
    """The same, and the vectors whose gradients are wanted."""
    batch = sides(examples)
    leaves = [encoded.vectors.clone().requires_grad_() for encoded in batch]
    return (Encoded(leaves[0], batch[0].mask), Encoded(leaves[1], batch[1].mask)), leaves


def pair(query: Any, document: Any) -> tuple[Encoded, Encoded]:
    return sides([(np.array(query, dtype=float), np.array(document, dtype=float))], extra=0)


def score(made: IASM, query: Any, document: Any) -> float:
    return made.match(*pair(query, document)).scores.item()


def channels(made: IASM, query: Any, document: Any) -> tuple[float, float]:
    source, target = made.distances(made.interact(*pair(query, document)))
    return source.item(), target.item()


def matrices(layers: Layers) -> list[Tensor]:
    """The paper's A[t]: m x n for even t, n x m for odd t."""
    return [table.mT if t % 2 else table for t, table in enumerate(layers.tables)]


def queries(layers: Layers) -> list[Tensor]:
    """The paper's Q[t], which has a row per document word for odd t."""
    return [(layers.by_query, layers.by_document)[t % 2][t] for t in range(len(layers.by_query))]


def documents(layers: Layers) -> list[Tensor]:
    """The paper's D[t], which has a row per query word for odd t."""
    return [(layers.by_document, layers.by_query)[t % 2][t] for t in range(len(layers.by_query))]


def weights_of(made: IASM) -> Weights:
    return Weights(*(p.detach().numpy().copy() for p in (made.Wq, made.Wd, made.bq, made.bd)))


def cnn_weights_of(cnn: GridCNN) -> CNNWeights:
    layers = (cnn.first, cnn.second, cnn.hidden, cnn.output)
    return CNNWeights(
        *(getattr(layer, part).detach().numpy().copy() for layer in layers for part in PARTS)
    )


PARTS = ("weight", "bias")


def reference(
    made: IASM,
    query: Array,
    document: Array,
    weights: Weights | None = None,
    *,
    cnn: CNNWeights | None = None,
    A0: Array | None = None,
) -> Trace:
    c = made.config
    if c.head == "cnn" and cnn is None:
        cnn = cnn_weights_of(made.cnn)
    return iasm(
        query,
        document,
        weights or weights_of(made),
        update=c.update,
        alpha=c.alpha,
        beta=c.beta,
        gamma=c.gamma,
        delta=c.delta,
        norm=c.norm,
        cnn=cnn,
        A0=A0,
    )


def central_difference(
    function: Callable[[], float],
    array: Array,
    step: float = 1e-6,
    places: list[tuple[int, ...]] | None = None,
) -> Array:
    """The slope at every entry of `array`, or at `places` only, in their order."""
    slopes = []
    for index in places or list(np.ndindex(array.shape)):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        slopes.append((above - below) / (2 * step))
    return np.array(slopes) if places else np.array(slopes).reshape(array.shape)

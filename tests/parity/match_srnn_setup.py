"""Models, ragged batches and their reference, as the Match-SRNN tests make them."""

from typing import Any

import numpy as np
import pytest
import torch
from match_srnn_reference import Text, Trace, Weights, match_srnn

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import MatchSRNN, MatchSRNNConfig

DIM = 3
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}  # to central differences
LENGTHS = ((3, 2), (1, 4), (4, 1), (2, 2))
SETTINGS: list[dict[str, Any]] = [
    {},
    {"tensor_bias": "outside"},
    {"tensor_bias": "none"},
    {"tied": True},
    {"tied": True, "tensor_bias": "outside"},
    {"gates": "shared"},
    {"reset": False},
    {"gates": "shared", "reset": False},
    {"activation": "identity"},
    {"interaction": "cosine"},
    {"interaction": "dot", "gates": "shared"},
    {"interaction": "indicator", "reset": False},
    {"interaction": "indicator", "units": 1, "gates": "shared"},
    {"channels": 1, "units": 3},
    {"channels": 4, "units": 1},
]
VARIANTS = [
    pytest.param(
        {**settings, "direction": direction},
        id="-".join([direction, *(f"{key}={value}" for key, value in settings.items())]),
    )
    for settings in SETTINGS
    for direction in ("forward", "both")
] + [
    pytest.param({"head": "state", "units": 1, "reset": reset}, id=f"state-reset={reset}")
    for reset in (True, False)
]
Pairs = list[tuple[Text, Text]]


def model(seed: int = 0, dim: int = DIM, **config: Any) -> MatchSRNN:
    """Every weight and bias large enough to bend something."""
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=dim))
    settings = {"channels": 2, "units": 2, **config}
    made = MatchSRNN(MatchSRNNConfig(**settings), encoder).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1, generator=generator)
    return made


def texts(seed: int = 0, dim: int = DIM, lengths: Any = LENGTHS) -> Pairs:
    random = np.random.default_rng(seed)

    def text(length: int) -> Text:
        return Text(random.normal(size=(length, dim)), random.integers(3, size=length).tolist())

    return [(text(m), text(n)) for m, n in lengths]


def side(rows: list[Text], garbage: float = 9.0, extra: int = 1) -> Encoded:
    """A ragged batch with garbage in its padding."""
    width = max(len(row.ids) for row in rows) + extra
    vectors = torch.full((len(rows), width, rows[0].vectors.shape[1]), garbage).double()
    ids = torch.ones(len(rows), width, dtype=torch.int64)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for i, row in enumerate(rows):
        vectors[i, : len(row.ids)] = torch.from_numpy(row.vectors)
        ids[i, : len(row.ids)] = torch.tensor(row.ids)
        mask[i, : len(row.ids)] = True
    return Encoded(vectors, mask, ids)


def sides(pairs: Pairs, garbage: float = 9.0, extra: tuple[int, int] = (1, 2)) -> tuple[Any, Any]:
    queries, documents = zip(*pairs, strict=True)
    return side(list(queries), garbage, extra[0]), side(list(documents), garbage, extra[1])


def score(made: MatchSRNN, query: Text, document: Text) -> float:
    return made.match(*sides([(query, document)], extra=(0, 0))).scores.item()


def weights_of(made: MatchSRNN) -> Weights:
    return {name: p.detach().numpy().copy() for name, p in made.named_parameters()}


def reference(
    made: MatchSRNN, query: Text, document: Text, weights: Weights | None = None
) -> Trace:
    c = made.config
    return match_srnn(
        query,
        document,
        weights_of(made) if weights is None else weights,
        kind=c.interaction,
        bias=c.tensor_bias,
        tied=c.tied,
        activation=c.activation,
        head=c.head,
    )

"""Models, ragged batches and their reference, as the IAM tests make them."""

from typing import Any

import numpy as np
import pytest
import torch
from iam_reference import Array, Trace, Weights, iam

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import IAM, IAMConfig

DIM, WORDS = 3, 7
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}  # to central differences
LENGTHS = ((3, 2), (1, 4), (4, 1), (2, 5))
VARIANTS = [
    pytest.param(config, id="-".join(f"{key}={value}" for key, value in config.items()) or "paper")
    for config in (
        {},
        {"jump": False},
        {"support": "gauss"},
        {"support": "binary"},
        {"q_align": "final"},
        {"tie_u": False},
        {"tie_u": False, "q_align": "final", "jump": False},
        {"final_state": "literal"},
        {"matrix": "dense"},
        {"input_dim": 2},
        {"tune_words": False},
        {"input_dim": 5, "matrix": "dense", "tie_u": False, "final_state": "literal"},
    )
]
Pair = tuple[Array, Array, list[int], list[int]]


def model(seed: int = 0, **config: Any) -> IAM:
    """Every weight and bias large enough to bend something."""
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=WORDS, dim=DIM))
    made = IAM(IAMConfig(**{"units": 2, "hidden": 4, **config}), encoder).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1, generator=generator)
        made.tf_idf.idf.uniform_(1, 3, generator=generator)
        if made.config.jump:
            made.energy.bound()
            made.energy.reference.fill_(0.3)
    return made


def texts(seed: int = 0, lengths: Any = LENGTHS) -> list[Pair]:
    """Vectors and words of queries and documents; one word in nine is unknown."""
    random = np.random.default_rng(seed)
    return [
        (
            random.normal(size=(m, DIM)),
            random.normal(size=(n, DIM)),
            random.integers(2, WORDS + 1, m).tolist(),
            random.integers(2, WORDS + 1, n).tolist(),
        )
        for m, n in lengths
    ]


def side(rows: list[Array], ids: list[list[int]], extra: int, garbage: float = 9.0) -> Encoded:
    """A ragged batch with garbage in its padding."""
    width = max(map(len, rows)) + extra
    vectors = torch.full((len(rows), width, DIM), garbage, dtype=torch.float64)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    words = torch.full((len(rows), width), 5)
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
        mask[i, : len(row)] = True
        words[i, : len(row)] = torch.tensor(ids[i], dtype=torch.int64)
    return Encoded(vectors, mask, words)


def sides(pairs: list[Pair], extra: tuple[int, int] = (1, 2)) -> tuple[Encoded, Encoded]:
    queries, documents, query_ids, document_ids = (list(part) for part in zip(*pairs, strict=True))
    return side(queries, query_ids, extra[0]), side(documents, document_ids, extra[1])


def weights_of(made: torch.nn.Module) -> Weights:
    return {name: value.detach().numpy().copy() for name, value in made.state_dict().items()}


def references(made: IAM, pairs: list[Pair], weights: Weights | None = None) -> list[Trace]:
    known = weights_of(made) if weights is None else weights
    return [
        iam(query, document, known, made.config, query_ids, document_ids)
        for query, document, query_ids, document_ids in pairs
    ]

"""Texts of different lengths as one batch, with garbage in its padding."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from matchwork.encode import Encoded

Array = npt.NDArray[np.float64]
Pairs = list[tuple[Array, Array]]


def texts(seed: int, lengths: Any, dim: int) -> Pairs:
    """Random vectors of a query and a document for each pair of lengths."""
    random = np.random.default_rng(seed)
    return [(random.normal(size=(m, dim)), random.normal(size=(n, dim))) for m, n in lengths]


def side(rows: Sequence[Array], extra: int = 1, garbage: float = 9.0) -> Encoded:
    """A batch padded `extra` further than it must be."""
    width, dim = max(map(len, rows)) + extra, rows[0].shape[1]
    vectors = torch.full((len(rows), width, dim), garbage, dtype=torch.float64)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for i, row in enumerate(rows):
        vectors[i, : len(row)] = torch.from_numpy(row)
        mask[i, : len(row)] = True
    return Encoded(vectors, mask)


def sides(pairs: Pairs, extra: tuple[int, int] = (1, 1)) -> tuple[Encoded, Encoded]:
    """Queries and documents."""
    queries, documents = zip(*pairs, strict=True)
    return side(queries, extra[0]), side(documents, extra[1])

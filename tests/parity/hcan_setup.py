"""Models, ragged batches and their reference, as the HCAN tests make them."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import ragged
import torch
from hcan_reference import Trace, Weights, hcan
from ragged import Pairs

from matchwork.encode import Encoded, WordEmbedding, WordEmbeddingConfig
from matchwork.models import HCAN, HCANConfig

DIM, LAYERS, QUERY_LENGTH = 3, 2, 5
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}  # to central differences
LENGTHS = ((3, 2), (1, 4), (4, 1), (2, 5))
ENCODERS = ("deep", "wide", "contextual")
PRESETS = ("paper", "code")
VARIANTS = [
    pytest.param({"preset": preset, "encoder": encoder, "parts": parts}, id="-".join(names))
    for names in product(PRESETS, ENCODERS, ("both", "relevance", "semantic"))
    for preset, encoder, parts in [names]
] + [
    pytest.param({"num_classes": 4, "kernel": 3}, id="four-classes-kernel-3"),
    pytest.param({"num_classes": 3, "preset": "paper", "num_layers": 1}, id="one-layer"),
    pytest.param({"encoder": "wide", "kernel": 1, "num_layers": 3}, id="wide-kernel-1"),
]


def model(seed: int = 0, **config: Any) -> HCAN:
    """Every weight and bias large enough to bend something."""
    settings = {
        "num_layers": LAYERS,
        "filters": 4,
        "hidden": 6,
        "query_length": QUERY_LENGTH,
        **config,
    }
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM))
    made = HCAN(HCANConfig(**settings), encoder).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1, generator=generator)
        made.head[-3].bias.add_(1.0)  # some hidden unit is awake
    return made


def texts(seed: int = 0, lengths: Any = LENGTHS) -> Pairs:
    return ragged.texts(seed, lengths, DIM)


def phrase_weights(query: Encoded, num_layers: int, seed: int = 7) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = (len(query), num_layers + 1, query.mask.shape[1])
    return torch.rand(shape, generator=generator, dtype=torch.float64)


def weights_of(made: HCAN) -> Weights:
    return {name: p.detach().numpy().copy() for name, p in made.named_parameters()}


def references(made: HCAN, pairs: Pairs, wgt: Any, weights: Weights | None = None) -> list[Trace]:
    c = made.config
    known = weights_of(made) if weights is None else weights
    return [
        hcan(
            query,
            document,
            known,
            np.asarray(wgt[row, :, : len(query)]),
            preset=c.preset,
            encoder=c.encoder,
            parts=c.parts,
            num_layers=c.num_layers,
            query_length=c.query_length,
        )
        for row, (query, document) in enumerate(pairs)
    ]

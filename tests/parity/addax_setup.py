"""Models, ragged batches and their reference, as the ADDAX tests make them."""

from typing import Any

import pytest
import ragged
import torch
from addax_reference import Trace, Weights, addax
from ragged import Pairs

from matchwork.encode import WordEmbedding, WordEmbeddingConfig
from matchwork.models import ADDAX, MODELS, AddaxConfig

DIM, BITS, QUERY_LENGTH, DOCUMENT_LENGTH = 4, 5, 5, 7
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}  # to central differences
LENGTHS = ((3, 2), (1, 4), (4, 1), (2, 6))
NAMES = ("addax", "addax-no-mags", "addax-no-highway", "addax-no-denoiser", "addax-attention")
OPTIONS: dict[str, dict[str, Any]] = {
    "scaled": {"scale_scores": True},
    "mean": {"reduction": "mean"},
    "untied": {"tied": False},
    "linear-query": {"query_activation": "linear"},
    "tanh-inference": {"inference": "tanh"},
    "alpha": {"alpha": 0.7},
    "gate-bias": {"gate_bias": -1.0},
}
VARIANTS = [pytest.param(name, {}, id=name) for name in NAMES] + [
    pytest.param(name, options, id=f"{name}-{label}")
    for name in ("addax", "addax-no-highway")
    for label, options in OPTIONS.items()
]


def model(name: str = "addax", seed: int = 0, **changes: Any) -> ADDAX:
    """Every weight and bias large enough to bend something; no dropout."""
    settings = {
        "query_length": QUERY_LENGTH,
        "document_length": DOCUMENT_LENGTH,
        "hash_dim": BITS,
        "dropout": 0.0,
        "delta": 0.3,
        "gamma": 0.2,
        **changes,
    }
    config = MODELS[name].config(settings)
    assert isinstance(config, AddaxConfig)
    encoder = WordEmbedding(WordEmbeddingConfig(vocab_size=3, dim=DIM))
    made = ADDAX(config, encoder).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-1, 1, generator=generator)
    return made


def texts(seed: int = 0, lengths: Any = LENGTHS) -> Pairs:
    return ragged.texts(seed, lengths, DIM)


def weights_of(made: ADDAX) -> Weights:
    return {
        name: p.detach().numpy().copy()
        for name, p in made.named_parameters()
        if not name.startswith("encoder.")
    }


def references(made: ADDAX, pairs: Pairs, weights: Weights | None = None) -> list[Trace]:
    known = weights_of(made) if weights is None else weights
    return [addax(query, document, known, made.config) for query, document in pairs]


def penalty(made: ADDAX, trace: Trace) -> float:
    return made.config.delta * trace.L1 + made.config.gamma * trace.L2

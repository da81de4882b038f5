"""IASM's forward pass beside its own matrix products: what everything else costs."""

from collections.abc import Callable

import torch

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures
from benchmarks.workload import DIM, matcher
from matchwork.encode import Encoded
from matchwork.models.iasm import IASM

QUERY, DOCUMENT = 20, 200  # words


def run(quick: bool) -> Figures:
    """A batch of 128 pairs, 20 x 200 words, 3 layers."""
    batch = 2 if quick else 128
    model = matcher("iasm-dynamic").model.eval()
    assert isinstance(model, IASM)
    query, document = _random_text(batch, QUERY), _random_text(batch, DOCUMENT)
    products = _products(batch, model.config.num_layers)
    with torch.inference_mode():
        whole, floor = medians(1 if quick else 15, lambda: model.match(query, document), products)
    return {
        "forward pass": Figure(
            value=1e3 * whole, unit="ms", peer=1e3 * floor, peer_name="its matrix products alone"
        )
    }


def _random_text(batch: int, length: int) -> Encoded:
    return Encoded(torch.randn(batch, length, DIM), torch.ones(batch, length, dtype=torch.bool))


def _products(batch: int, num_layers: int) -> Callable[[], None]:
    """The products that the equations ask for, each in its cheaper order."""
    query, document = torch.randn(batch, QUERY, DIM), torch.randn(batch, DOCUMENT, DIM)
    matrix, projection = torch.randn(batch, QUERY, DOCUMENT), torch.randn(DIM, DIM)

    def multiply() -> None:
        for _ in range(num_layers):  # texts swap their roles, which leaves the shapes as they are
            torch.matmul(query, document.transpose(1, 2))
            torch.matmul(matrix.transpose(1, 2), torch.matmul(query, projection))
            torch.matmul(torch.matmul(matrix, document), projection)

    return multiply

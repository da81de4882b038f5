"""IASM beside its own matrix products: what everything else costs, forward and in training."""

import torch

from benchmarks.clock import medians
from benchmarks.figures import Figure, Figures, Target
from benchmarks.workload import DIM, matcher
from matchwork.encode import Encoded
from matchwork.models.iasm.model import IASM

QUERY, DOCUMENT = 20, 200  # words
PROMISE = Target("ratio", "most", round(1 / 0.6, 2))  # 60 % of the speed of the products


def run(quick: bool) -> Figures:
    """A batch of 128 pairs, 20 x 200 words, 3 layers, frozen vectors."""
    batch, repeats = (2, 1) if quick else (128, 15)
    model = matcher("iasm-dynamic").model
    assert isinstance(model, IASM)
    query, document = _random_text(batch, QUERY), _random_text(batch, DOCUMENT)
    products = Products(batch, model.config.num_layers)

    def train() -> None:
        model.zero_grad()
        model.match(query, document).scores.sum().backward()

    with torch.inference_mode():
        forward = medians(repeats, lambda: model.match(query, document), products.forward)
    training = medians(repeats, train, products.training)
    return {
        name: Figure(
            value=1e3 * whole,
            unit="ms",
            peer=1e3 * floor,
            peer_name="its matrix products alone",
            target=PROMISE,
        )
        for name, (whole, floor) in (("forward pass", forward), ("training step", training))
    }


def _random_text(batch: int, length: int) -> Encoded:
    return Encoded(torch.randn(batch, length, DIM), torch.ones(batch, length, dtype=torch.bool))


class Products:
    """The products that the equations and their derivatives ask for, each in its cheaper order.

    Texts swap their roles from layer to layer, which leaves the shapes as they are: `short`
    stands for all that has a row per query word, `long` for a row per document word.
    """

    def __init__(self, batch: int, num_layers: int) -> None:
        self.num_layers = num_layers
        self.short, self.long = torch.randn(batch, QUERY, DIM), torch.randn(batch, DOCUMENT, DIM)
        self.matrix, self.projection = torch.randn(batch, QUERY, DOCUMENT), torch.randn(DIM, DIM)
        self.short_rows = self.short.flatten(0, 1)

    def forward(self) -> None:
        """A = short long', A' (short W), (A long) W."""
        for _ in range(self.num_layers):
            torch.matmul(self.short, self.long.mT)
            torch.matmul(self.matrix.mT, torch.matmul(self.short, self.projection))
            torch.matmul(torch.matmul(self.matrix, self.long), self.projection)

    def training(self) -> None:
        """The forward products and those of the chain rule; the first texts are frozen."""
        self.forward()
        for layer in range(self.num_layers):
            inner = torch.matmul(self.matrix, self.long)  # gradient of short W
            torch.matmul(self.short_rows.T, inner.flatten(0, 1))  # of the one W
            torch.matmul(self.short_rows.T, self.short_rows)  # of the other
            if layer == 0:
                continue
            torch.matmul(inner, self.projection.T)  # of short
            mixed = torch.matmul(self.short, self.projection.T)  # of A long
            torch.matmul(self.matrix.mT, mixed)  # of long
            torch.matmul(mixed, self.long.mT)  # of A, through A long
            torch.matmul(self.short, self.long.mT)  # of A, through A' (short W)
            torch.matmul(self.matrix, self.long)  # of short, through A
            torch.matmul(self.matrix.mT, self.short)  # of long, through A

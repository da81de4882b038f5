"""The stack of interactive layers with its own backward pass against the equations."""

import gc
import weakref
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from iasm_setup import documents, matrices, queries
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.interact import cosine_table
from matchwork.models.iasm.interactive_layers import Layers, Weights, interactive_layers

EXACT = {"rtol": 1e-10, "atol": 1e-10}
DIM = 3


def plain(
    matrix: Tensor, query: Encoded, document: Encoded, weights: Weights, alpha: float, beta: float
) -> list[Tensor]:
    """Equations 2 to 7 as they are printed, differentiated by autograd: A[1..], Q[1..], D[1..]."""
    a, q, d = matrix, query.vectors, document.vectors
    q_rows, d_rows = (side.mask.unsqueeze(-1) for side in (query, document))
    tables, by_query, by_document = [], [], []
    for t, (Wq, Wd, bq, bd) in enumerate(zip(*weights, strict=True)):
        if t:
            a = alpha * cosine_table(q, d) + beta * a.mT
            tables.append(a)
        q, d = torch.relu(a.mT @ q @ Wq + bq) * d_rows, torch.relu(a @ d @ Wd + bd) * q_rows
        q_rows, d_rows = d_rows, q_rows
        by_query.append(q)
        by_document.append(d)
    return [*tables, *by_query, *by_document]


def outputs(layers: Layers) -> list[Tensor]:
    return [*matrices(layers)[1:], *queries(layers)[1:], *documents(layers)[1:]]


class Case:
    """A ragged batch of two pairs and weights, all of which may want gradients."""

    def __init__(self, m: int, n: int, depth: int = 3, dim: int = DIM, seed: int = 0) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.matrix = self.random(2, m, n)
        self.texts = self.random(2, m, dim), self.random(2, n, dim)
        self.weights = Weights(
            *(self.random(depth, dim, dim) for _ in range(2)),
            *(self.random(depth, dim) for _ in range(2)),
        )
        self.masks = [
            torch.arange(length) < torch.tensor([length, max(length - 1, 1)])[:, None]
            for length in (m, n)
        ]

    def random(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64).requires_grad_()

    @property
    def leaves(self) -> list[Tensor]:
        return [self.matrix, *self.texts, *self.weights]

    def arguments(self) -> tuple[Tensor, Encoded, Encoded, Weights]:
        query, document = (Encoded(*side) for side in zip(self.texts, self.masks, strict=True))
        cells = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
        return self.matrix * cells, query, document, self.weights

    def cast(self, dtype: torch.dtype) -> "Case":
        for leaf in self.leaves:
            leaf.data = leaf.data.to(dtype)
        return self


def gradients(made: list[Tensor], leaves: list[Tensor]) -> tuple[Tensor | None, ...]:
    """Of a sum in which every cell has its own weight."""
    total = torch.stack(
        [(each * torch.linspace(-1, 2, each.numel()).view(each.shape)).sum() for each in made]
    ).sum()
    return torch.autograd.grad(total, leaves, allow_unused=True)


@given(
    m=st.integers(1, 5),
    n=st.integers(1, 5),
    depth=st.integers(1, 4),
    alpha=st.sampled_from([0.0, 0.75, 1.5]),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_values_and_gradients_of_the_equations(
    m: int, n: int, depth: int, alpha: float, seed: int, data: st.DataObject
) -> None:
    """Whichever text is longer, and whichever of the outputs enter the loss."""
    case = Case(m, n, depth, seed=seed)
    made = outputs(interactive_layers(*case.arguments(), alpha, 0.4))
    expected = plain(*case.arguments(), alpha, 0.4)
    torch.testing.assert_close(made, expected, **EXACT)
    places = data.draw(st.sets(st.integers(0, len(made) - 1), min_size=1))
    found, wanted = (
        gradients([each[place] for place in sorted(places)], case.leaves)
        for each in (made, expected)
    )
    for ours, theirs, leaf in zip(found, wanted, case.leaves, strict=True):
        assert ours is not None
        torch.testing.assert_close(
            ours, torch.zeros_like(leaf) if theirs is None else theirs, **EXACT
        )


@pytest.mark.parametrize("shape", [(2, 4), (4, 2)])
def test_only_the_gradients_that_are_asked_for(shape: tuple[int, int]) -> None:
    """Frozen texts, as word vectors are; then frozen weights."""
    case = Case(*shape)
    every = gradients(plain(*case.arguments(), 0.75, 0.25), case.leaves)
    for wanted in (slice(3, 7), slice(0, 3), slice(1, 2)):
        for leaf in case.leaves:
            leaf.requires_grad_(False)
        leaves = [leaf.requires_grad_() for leaf in case.leaves[wanted]]
        found = gradients(outputs(interactive_layers(*case.arguments(), 0.75, 0.25)), leaves)
        torch.testing.assert_close(found, every[wanted], **EXACT)


def test_the_backward_pass_writes_over_nothing_that_others_see() -> None:
    case = Case(3, 5)
    made = outputs(interactive_layers(*case.arguments(), 0.75, 0.25))
    incoming = [torch.randn(each.shape, dtype=torch.float64) for each in made]
    seen = [*made, *incoming, *case.leaves]
    before = [tensor.detach().clone() for tensor in seen]
    once, again = (
        torch.autograd.grad(made, case.leaves, incoming, retain_graph=True) for _ in range(2)
    )
    assert all(map(torch.equal, once, again))
    assert all(map(torch.equal, seen, before))


def test_everything_is_freed_with_the_last_output() -> None:
    """A tensor kept on the graph's own node would wait for the garbage collector."""
    case = Case(3, 5)
    gc.collect()
    gc.disable()
    try:
        layers = interactive_layers(*case.arguments(), 0.75, 0.25)
        kept = [weakref.ref(tensor) for tensor in outputs(layers)]
        del layers
        assert all(reference() is None for reference in kept)
    finally:
        gc.enable()


def test_padding_stays_zero_and_gets_no_gradient() -> None:
    case = Case(3, 5)
    layers = interactive_layers(*case.arguments(), 0.75, 0.25)
    found = gradients(outputs(layers), case.leaves)
    for texts, mask in zip((layers.by_query, layers.by_document), case.masks, strict=True):
        assert all(not text[~mask].any() for text in texts)
    for gradient, mask in zip(found[1:3], case.masks, strict=True):
        assert gradient is not None and not gradient[~mask].any() and gradient[mask].any()


def test_places_and_names() -> None:
    """By places the shapes stay, by the paper's names they alternate."""
    layers = interactive_layers(*Case(2, 4, depth=4).arguments(), 0.75, 0.25)
    assert {tuple(table.shape[1:]) for table in layers.tables} == {(2, 4)}
    assert {len(text[0]) for text in layers.by_query} == {2}
    for by_name, rows in ((matrices, 2), (queries, 2), (documents, 4)):
        lengths = [len(each[0]) for each in by_name(layers)]
        assert lengths[0] == rows and all(a + b == 6 for a, b in pairwise(lengths))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("inside", [True, False])
def test_mixed_precision_stays_close(dtype: torch.dtype, inside: bool) -> None:
    """Backward inside autocast or after it; a text at last of 16 bits, its matrix of 32."""
    case = Case(4, 6, dim=8).cast(torch.float32)
    for weight in case.weights:
        weight.data /= 8
    for bias in case.weights[2:]:  # no sum so near to zero that rounding opens or shuts a relu
        bias.data += 2
    expected = outputs(interactive_layers(*case.arguments(), 0.75, 0.25))
    with torch.autocast("cpu", dtype=dtype):
        layers = interactive_layers(*case.arguments(), 0.75, 0.25)
        made = [each.float() for each in outputs(layers)]
        found = gradients(made, case.leaves) if inside else ()
    assert layers.by_query[-1].dtype == dtype and layers.tables[-1].dtype == torch.float32
    found = found or gradients(made, case.leaves)
    torch.testing.assert_close(made, expected, rtol=0.05, atol=0.05)
    for ours, theirs in zip(found, gradients(expected, case.leaves), strict=True):
        assert ours is not None and theirs is not None and ours.dtype == torch.float32
        assert (ours - theirs).norm() < 0.05 * theirs.norm()


def test_double_precision_is_not_lowered_by_autocast() -> None:
    case = Case(2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layers = interactive_layers(*case.arguments(), 0.75, 0.25)
    assert all(text.dtype == torch.float64 for text in layers.by_document)

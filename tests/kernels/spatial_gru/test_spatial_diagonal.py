"""Every engine this machine has gives the values and gradients of nested loops."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from spatial_setup import (
    EXACT,
    FAST_ON_CPU,
    LENGTHS,
    ON_CPU,
    parameters,
    random_grid,
    random_weights,
    values_and_gradients,
)

from matchwork.kernels.spatial_gru import SpatialWeights, spatial_gru

engines = pytest.mark.parametrize("engine", FAST_ON_CPU)


def test_plain_pytorch_is_always_there() -> None:
    assert {"reference", "diagonal"} <= set(ON_CPU)


@engines
@given(
    lengths=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=5),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    directions=st.integers(1, 2),
    units=st.integers(1, 5),
    channels=st.integers(1, 4),
    shared=st.booleans(),
    resets=st.booleans(),
    activation=st.sampled_from(["tanh", "identity"]),
    seed=st.integers(0, 1000),
)
def test_equals_nested_loops(
    engine: str,
    lengths: list[tuple[int, int]],
    padding: tuple[int, int],
    directions: int,
    units: int,
    channels: int,
    shared: bool,
    resets: bool,
    activation: Any,
    seed: int,
) -> None:
    sizes = torch.tensor(lengths, dtype=torch.int64).view(-1, 2)
    weights = random_weights(directions, units, channels, shared=shared, resets=resets, seed=seed)
    # Without tanh large weights make states grow past any tolerance.
    weights = SpatialWeights._make(
        None if part is None else (part.detach() * 0.5).requires_grad_() for part in weights
    )
    grid = random_grid(sizes, channels, padding=padding, seed=seed)
    if 0 in grid.shape:
        assert spatial_gru(grid, sizes, weights, engine=engine).shape == (
            directions,
            *grid.shape[:3],
            units,
        )
        return
    expected = values_and_gradients(grid, sizes, weights, activation=activation, engine="reference")
    found = values_and_gradients(grid, sizes, weights, activation=activation, engine=engine)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@engines
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("activation", ["tanh", "identity"])
def test_finite_differences(engine: str, shared: bool, resets: bool, activation: Any) -> None:
    lengths = torch.tensor([[2, 3], [1, 2]])
    weights = random_weights(2, 2, 2, shared=shared, resets=resets)
    inputs = random_grid(lengths).requires_grad_()

    def states(grid: torch.Tensor, *parts: torch.Tensor) -> torch.Tensor:
        given = iter(parts)
        rebuilt = SpatialWeights._make(None if part is None else next(given) for part in weights)
        return spatial_gru(grid, lengths, rebuilt, activation=activation, engine=engine)

    assert torch.autograd.gradcheck(states, (inputs, *parameters(weights)), fast_mode=True)


@engines
def test_single_precision_stays_near_double(engine: str) -> None:
    weights, grid = random_weights(2, 10, 10), random_grid(channels=10)
    exact = values_and_gradients(grid, LENGTHS, weights, engine="reference")
    single = SpatialWeights._make(
        None if part is None else part.detach().float().requires_grad_() for part in weights
    )
    found = values_and_gradients(grid.float(), LENGTHS, single, engine=engine)
    for ours, theirs in zip(found, exact, strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-3, atol=1e-4)


@engines
def test_the_states_are_all_that_is_kept_for_backward(engine: str) -> None:
    """Memory that backward needs beside inputs and weights: one tensor as large as the states."""
    lengths = torch.full((8, 2), 20)
    weights, grid = random_weights(1, 8, 3), random_grid(lengths, 3).requires_grad_()
    kept: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        states = spatial_gru(grid, lengths, weights, engine=engine)
    large = [part for part in kept if part.is_floating_point() and part.numel() >= grid.numel()]
    assert sorted(part.numel() for part in large) == [grid.numel(), states.numel()]

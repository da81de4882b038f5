"""What holds for every engine: section 8 of the model's specification, at the level of states."""

import pytest
import torch
from spatial_setup import EXACT, LENGTHS, ON_CPU, random_grid, random_weights, values_and_gradients

from matchwork.kernels.spatial_gru import (
    SpatialWeights,
    corner_states,
    flip_rectangle,
    spatial_gates,
    spatial_gru,
)
from matchwork.kernels.spatial_gru.rectangles import rectangle_mask

engines = pytest.mark.parametrize("engine", ON_CPU)


@pytest.mark.parametrize("shared", [False, True])
def test_gates_share_one_whole(shared: bool) -> None:
    weights, grid = random_weights(2, shared=shared), random_grid()
    states = spatial_gru(grid, LENGTHS, weights)
    gates = spatial_gates(grid, LENGTHS, weights, states)
    inside = rectangle_mask(LENGTHS, 4, 5)
    z = gates.z[:, :, inside]
    assert z.shape[-1] == (1 if shared else 3)
    assert ((z > 0) & (z < 1)).all()
    torch.testing.assert_close(z.sum(0), torch.ones_like(z[0]))
    assert gates.r is not None
    assert ((gates.r[:, :, inside] > 0) & (gates.r[:, :, inside] < 1)).all()
    for part in gates:
        assert part is not None
        assert (part.movedim(-1, 0)[..., ~inside] == 0).all()


def test_gates_and_candidates_make_the_states() -> None:
    weights, grid = random_weights(2), random_grid()
    states = spatial_gru(grid, LENGTHS, weights)
    z, _, candidate = spatial_gates(grid, LENGTHS, weights, states)
    bordered = torch.nn.functional.pad(states, (0, 0, 1, 0, 1, 0))
    left, top = bordered[:, :, 1:, :-1], bordered[:, :, :-1, 1:]
    mixture = z[0] * candidate + z[1] * left + z[2] * top + z[3] * bordered[:, :, :-1, :-1]
    torch.testing.assert_close(mixture, states, **EXACT)


def test_gates_without_resets_have_none() -> None:
    weights, grid = random_weights(resets=False), random_grid()
    gates = spatial_gates(grid, LENGTHS, weights, spatial_gru(grid, LENGTHS, weights))
    assert gates.r is None


@engines
def test_tanh_keeps_states_inside_one(engine: str) -> None:
    states = spatial_gru(random_grid(), LENGTHS, random_weights(2), engine=engine)
    assert 0.5 < states.abs().max() < 1


@engines
@pytest.mark.parametrize("garbage", [0.0, 1e30, float("nan"), float("inf")])
def test_padding_changes_nothing(engine: str, garbage: float) -> None:
    weights, tight = random_weights(2), random_grid()
    loose = random_grid(padding=(3, 2))
    loose[~rectangle_mask(LENGTHS, 7, 7)] = garbage
    outside = ~rectangle_mask(LENGTHS, 7, 7)
    loose.requires_grad_()
    corners = [
        corner_states(spatial_gru(grid, LENGTHS, weights, engine=engine), LENGTHS)
        for grid in (tight, loose)
    ]
    torch.testing.assert_close(corners[1], corners[0], **EXACT)
    states = spatial_gru(loose, LENGTHS, weights, engine=engine)
    assert (states[:, outside] == 0).all()
    found = torch.autograd.grad(states.square().sum(), [loose, weights.gate, weights.state])
    assert (found[0][outside] == 0).all()
    assert all(gradient.isfinite().all() for gradient in found)
    assert found[0][~outside].abs().min() > 0


@engines
def test_gradients_of_padded_states_go_nowhere(engine: str) -> None:
    weights, grid = random_weights(2), random_grid(padding=(1, 1)).requires_grad_()
    states = spatial_gru(grid, LENGTHS, weights, engine=engine)
    outer = torch.zeros_like(states)
    outer[:, ~rectangle_mask(LENGTHS, 5, 6)] = 1.0
    found = torch.autograd.grad(states, [grid, weights.gate, weights.bias], outer)
    assert all((gradient == 0).all() for gradient in found)


@engines
def test_batch_mates_change_nothing(engine: str) -> None:
    weights, grid = random_weights(2), random_grid()
    together = spatial_gru(grid, LENGTHS, weights, engine=engine)
    for item, lengths in enumerate(LENGTHS):
        alone = spatial_gru(grid[item : item + 1], lengths[None], weights, engine=engine)
        torch.testing.assert_close(together[:, item], alone[:, 0], **EXACT)


@engines
def test_reverse_scan_is_a_forward_scan_of_reversed_texts(engine: str) -> None:
    forward = random_weights(1)
    both = SpatialWeights._make(
        None if part is None else torch.cat([part, part]) for part in forward
    )
    grid = random_grid()
    states = spatial_gru(grid, LENGTHS, both, engine=engine)
    for item, (rows, columns) in enumerate(LENGTHS.tolist()):
        backwards = grid[item : item + 1, :rows, :columns].flip(1, 2)
        alone = spatial_gru(backwards, LENGTHS[item : item + 1], forward, engine=engine)
        torch.testing.assert_close(states[1, item, :rows, :columns], alone[0, 0], **EXACT)


@engines
def test_swapped_texts_with_swapped_weights(engine: str) -> None:
    """Rows for columns, left for top: the same states, transposed."""
    weights, grid = random_weights(1), random_grid()
    u = weights.units
    assert weights.reset is not None and weights.reset_bias is not None
    columns = torch.cat([torch.arange(u, 2 * u), torch.arange(u), torch.arange(2 * u, 3 * u + 2)])
    swapped = SpatialWeights(
        reset=weights.reset[:, [1, 0, 2]][..., columns],
        reset_bias=weights.reset_bias[:, [1, 0, 2]],
        gate=weights.gate[:, [0, 2, 1, 3]][..., columns],
        gate_bias=weights.gate_bias[:, [0, 2, 1, 3]],
        input=weights.input,
        state=weights.state[..., columns[: 3 * u]],
        bias=weights.bias,
    )
    states = spatial_gru(grid, LENGTHS, weights, engine=engine)
    other = spatial_gru(grid.transpose(1, 2), LENGTHS.flip(1), swapped, engine=engine)
    torch.testing.assert_close(other.transpose(2, 3), states, **EXACT)


@engines
def test_every_state_is_the_corner_of_its_prefixes(engine: str) -> None:
    weights, grid = random_weights(1), random_grid()[:1]
    states = spatial_gru(grid, LENGTHS[:1], weights, engine=engine)
    for row in range(4):
        for column in range(5):
            lengths = torch.tensor([[row + 1, column + 1]])
            corner = corner_states(spatial_gru(grid, lengths, weights, engine=engine), lengths)
            torch.testing.assert_close(corner[0], states[0, 0, row, column], **EXACT)


@engines
def test_the_hand_example(engine: str) -> None:
    weights = SpatialWeights(
        reset=torch.zeros(1, 3, 1, 4),
        reset_bias=torch.zeros(1, 3, 1),
        gate=torch.zeros(1, 4, 1, 4),
        gate_bias=torch.zeros(1, 4, 1),
        input=torch.ones(1, 1, 1),
        state=torch.zeros(1, 1, 3),
        bias=torch.zeros(1, 1),
    ).to(torch.float64)
    inputs = torch.ones(1, 2, 2, 1, dtype=torch.float64)
    states = spatial_gru(inputs, torch.tensor([[2, 2]]), weights, engine=engine)
    expected = torch.tensor([[0.1903985, 0.2379982], [0.2379982, 0.3569973]], dtype=torch.float64)
    torch.testing.assert_close(states[0, 0, ..., 0], expected, rtol=0, atol=1e-7)


@engines
def test_shared_gates_are_equal_gates(engine: str) -> None:
    """A scalar gate is a gate with the same row for every dimension; u = 1: no difference."""
    shared = random_weights(2, shared=True)
    repeated = shared._replace(
        reset=shared.reset.expand(-1, -1, 3, -1) if shared.reset is not None else None,
        reset_bias=shared.reset_bias.expand(-1, -1, 3) if shared.reset_bias is not None else None,
        gate=shared.gate.expand(-1, -1, 3, -1),
        gate_bias=shared.gate_bias.expand(-1, -1, 3),
    )
    grid = random_grid()
    leaves = [grid.requires_grad_(), *(part for part in shared if part is not None)]
    found = []
    for weights in (shared, repeated):
        states = spatial_gru(grid, LENGTHS, weights, engine=engine)
        found.append([states, *torch.autograd.grad(states.square().sum(), leaves)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@engines
def test_every_weight_matters(engine: str) -> None:
    for gradient in values_and_gradients(random_grid(), LENGTHS, random_weights(2), engine=engine):
        assert gradient.abs().sum() > 0


def test_flipping_twice_is_nothing() -> None:
    grid = random_grid(padding=(1, 2))
    flipped = flip_rectangle(grid, LENGTHS)
    assert torch.equal(flip_rectangle(flipped, LENGTHS), grid)
    assert torch.equal(flipped[0, :4, :5], grid[0, :4, :5].flip(0, 1))
    assert torch.equal(flipped[1, :2, :3], grid[1, :2, :3].flip(0, 1))
    outside = ~rectangle_mask(LENGTHS, 5, 7)
    assert torch.equal(flipped[outside], grid[outside])


def test_flipping_has_the_gradient_of_indexing() -> None:
    grid = random_grid(padding=(1, 0)).requires_grad_()
    assert torch.autograd.gradcheck(lambda values: flip_rectangle(values, LENGTHS), (grid,))


def test_corners_of_empty_texts_are_zero() -> None:
    weights = random_weights(2)
    corners = corner_states(spatial_gru(random_grid(), LENGTHS, weights), LENGTHS)
    assert corners.shape == (6, 6)
    empty = (LENGTHS == 0).any(-1)
    assert (corners[empty] == 0).all()
    assert (corners[~empty] != 0).all()


def test_corners_of_a_grid_without_cells_are_zero() -> None:
    lengths = torch.zeros(3, 2, dtype=torch.int64)
    weights = random_weights(2)
    corners = corner_states(spatial_gru(torch.ones(3, 0, 5, 2).double(), lengths, weights), lengths)
    assert torch.equal(corners, torch.zeros(3, 6, dtype=torch.float64))
    corners.sum().backward()  # type: ignore[no-untyped-call]


def test_lengths_past_the_grid_count_as_its_own() -> None:
    """On a GPU nobody looks at lengths, and an index past the end would be fatal there."""
    grid, true = random_grid(torch.tensor([[4, 5], [4, 5]])), torch.tensor([[4, 5], [4, 3]])
    past = torch.tensor([[7, 99], [9, 3]])
    assert torch.equal(flip_rectangle(grid, past), flip_rectangle(grid, true))
    assert torch.equal(corner_states(grid[None], past), corner_states(grid[None], true))

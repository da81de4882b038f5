"""The engine for any device: anti-diagonals, whose cells do not depend on each other.

The memory layout is (directions, rows, columns, features, batch), so that an anti-diagonal is a
strided view and all its cells are the columns of one matrix product. Only the states are saved
for the backward pass, which recomputes the gates diagonal by diagonal.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.kernels.spatial_gru.rectangles import rectangle_mask
from matchwork.kernels.spatial_gru.weights import Activation, SpatialWeights


def scan(scans: Tensor, lengths: Tensor, weights: SpatialWeights, activation: Activation) -> Tensor:
    """Return the states of all cells; see `engines.Engine.scan`."""
    inside = rectangle_mask(lengths, *scans.shape[2:4])
    options = {"reset": weights.reset is not None, "tanh": activation == "tanh"}
    form = _Form(weights.units, gates=weights.gate.shape[2], **options)
    states: Tensor = _Sweep.apply(  # type: ignore[no-untyped-call]
        scans, inside, _stacked(weights), weights.state, form
    )
    return states


class _Form(NamedTuple):
    """Sizes and options that cannot be read off the matrices."""

    units: int
    gates: int
    reset: bool
    tanh: bool


def _stacked(weights: SpatialWeights) -> Tensor:
    """Stack all weights that apply to a cell's neighbourhood into one matrix.

    Rows: reset gates, gates, candidate without its recurrent part. Columns: left, top, diagonal,
    input s, 1.
    """
    units, channels = weights.units, weights.channels
    kinds = [(weights.gate, weights.gate_bias)]
    if weights.reset is not None and weights.reset_bias is not None:
        kinds.insert(0, (weights.reset, weights.reset_bias))
    rows = []
    for matrix, bias in kinds:
        top, left, rest = torch.split_with_sizes(
            matrix.flatten(1, 2), [units, units, units + channels], dim=-1
        )
        rows.append(torch.cat([left, top, rest, bias.flatten(1)[..., None]], dim=-1))
    no_memory = torch.zeros_like(weights.state)
    rows.append(torch.cat([no_memory, weights.input, weights.bias[..., None]], dim=-1))
    return torch.cat(rows, dim=1)


class _Opened(NamedTuple):
    """Gates of the cells of one anti-diagonal, shape (directions, ..., cells * batch)."""

    around: Tensor  # (D, 3u + c + 1, N): left, top, diagonal, s, 1
    near: Tensor  # (D, 3, u, N): its first three parts
    r: Tensor | None  # (D, 3, g, N)
    memory: Tensor  # (D, 3, u, N): r * near
    z: Tensor  # (D, 4, g, N)
    candidate: Tensor  # (D, u, N)


class _Sweep(torch.autograd.Function):
    """Forward from the first corner to the last, backward from the last to the first."""

    @staticmethod
    def forward(
        ctx: Any, scans: Tensor, inside: Tensor, matrix: Tensor, state: Tensor, form: _Form
    ) -> Tensor:
        inputs = _to_grid(scans, inside)
        grid = _bordered(inputs, form.units)
        for k in range(inputs.shape[1] + inputs.shape[2] - 1):
            cells = _open(_around(inputs, grid, k), matrix, state, form)
            here = cells.z[:, 0] * cells.candidate
            for side in range(3):
                here.addcmul_(cells.z[:, side + 1], cells.near[:, side])
            target = _diagonal(grid[:, 1:, 1:], k)
            target.copy_(here.view(target.shape))
        states = _from_grid(grid[:, 1:, 1:], inside)
        ctx.save_for_backward(scans, inside, matrix, state, states)
        ctx.form = form
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        with torch.autocast(gradients[0].device.type, enabled=False):
            to_scans, to_matrix, to_state = _backward(gradients[0], *ctx.saved_tensors, ctx.form)
        return to_scans, None, to_matrix, to_state, None


def _backward(gradient: Tensor, *saved: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the inputs and the two matrices."""
    scans, inside, matrix, state, states, form = saved
    units = form.units
    inputs = _to_grid(scans, inside)
    grid, adjoint = _bordered(inputs, units), _bordered(inputs, units)
    grid[:, 1:, 1:] = _to_grid(states, inside)
    adjoint[:, 1:, 1:] = _to_grid(gradient, inside)
    to_inputs = torch.empty_like(inputs)
    to_matrix, to_state = torch.zeros_like(matrix), torch.zeros_like(state)
    for k in reversed(range(inputs.shape[1] + inputs.shape[2] - 1)):
        cells = _open(_around(inputs, grid, k), matrix, state, form)
        here = _diagonal(grid[:, 1:, 1:], k).flatten(2)
        outer = _diagonal(adjoint[:, 1:, 1:], k).flatten(2)
        to_logits, to_near = _through_cells(cells, here, outer, state, form)
        to_around = matrix.transpose(1, 2) @ to_logits
        to_near += to_around[:, : 3 * units].view_as(to_near)
        for side, view in enumerate(_sides(adjoint)):
            target = _diagonal(view, k)
            target += to_near[:, side].view(target.shape)
        target = _diagonal(to_inputs, k)
        target.copy_(to_around[:, 3 * units : -1].view(target.shape))
        to_matrix.baddbmm_(to_logits, cells.around.transpose(1, 2))
        to_state.baddbmm_(to_logits[:, -units:], cells.memory.flatten(1, 2).transpose(1, 2))
    return _from_grid(to_inputs, inside), to_matrix, to_state


def _open(around: Tensor, matrix: Tensor, state: Tensor, form: _Form) -> _Opened:
    """Compute gates and candidates of cells from their neighbourhoods."""
    units, gates = form.units, form.gates
    near = torch.unflatten(around[:, : 3 * units], 1, (3, units))
    logits = matrix @ around
    r, memory = None, near
    if form.reset:
        r = torch.unflatten(logits[:, : 3 * gates].sigmoid_(), 1, (3, gates))
        memory = r * near
    candidate = logits[:, -units:].baddbmm_(state, memory.flatten(1, 2))
    if form.tanh:
        candidate.tanh_()
    z = torch.unflatten(logits[:, -units - 4 * gates : -units], 1, (4, gates)).softmax(1)
    return _Opened(around, near, r, memory, z, candidate)


def _through_cells(
    cells: _Opened, here: Tensor, outer: Tensor, state: Tensor, form: _Form
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the rows of the matrix product and, directly, of the neighbours."""
    units, gates = form.units, form.gates
    directions, _, number = outer.shape
    rows = (7 if form.reset else 4) * gates + units
    to_logits = outer.new_empty(directions, rows, number)
    to_candidate = to_logits[:, -units:]
    torch.mul(outer, cells.z[:, 0], out=to_candidate)
    # The gates are a softmax and `here` is their mixture: d logit = z * (value - here) * outer.
    to_z = torch.unflatten(to_logits[:, -units - 4 * gates : -units], 1, (4, gates))
    values = torch.cat([cells.candidate[:, None], cells.near], dim=1)
    pull = values.sub_(here[:, None]).mul_(outer[:, None])
    torch.mul(_over_units(pull, gates), cells.z, out=to_z)
    if form.tanh:
        tanh_backward = torch.ops.aten.tanh_backward.grad_input
        tanh_backward(to_candidate, cells.candidate, grad_input=to_candidate)
    to_near = (state.transpose(1, 2) @ to_candidate).view_as(cells.near)
    if cells.r is not None:
        to_r = torch.unflatten(to_logits[:, : 3 * gates], 1, (3, gates))
        to_r.copy_(_over_units(to_near * cells.near, gates))
        torch.ops.aten.sigmoid_backward.grad_input(to_r, cells.r, grad_input=to_r)
        to_near *= cells.r
    return to_logits, to_near.addcmul_(cells.z[:, 1:], outer[:, None])


def _over_units(values: Tensor, gates: int) -> Tensor:
    """Sum the gradients of all dimensions if they share one gate."""
    return values if values.shape[2] == gates else values.sum(2, keepdim=True)


def _around(inputs: Tensor, grid: Tensor, k: int) -> Tensor:
    """Return the inputs of anti-diagonal `k`, shape (directions, 3u + c + 1, cells * batch)."""
    parts = [_diagonal(view, k) for view in _sides(grid)] + [_diagonal(inputs, k)]
    ones = parts[0].new_ones(()).expand_as(parts[0][:, :1])
    return torch.cat([*parts, ones], dim=1).flatten(2)


def _sides(grid: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return views of the left, top and diagonal neighbours of all cells of a bordered grid."""
    return grid[:, 1:, :-1], grid[:, :-1, 1:], grid[:, :-1, :-1]


def _diagonal(grid: Tensor, k: int) -> Tensor:
    """Return a view of the cells with row + column = k, (directions, features, cells, batch)."""
    directions, rows, columns, features, batch = grid.shape
    direction, down, right, feature, item = grid.stride()
    first = max(0, k - columns + 1)
    cells = min(rows - 1, k) - first + 1
    return grid.as_strided(
        (directions, features, cells, batch),
        (direction, feature, down - right, item),
        grid.storage_offset() + first * down + (k - first) * right,
    )


def _bordered(inputs: Tensor, units: int) -> Tensor:
    """Return zeros for all states, with a border before the first row and column."""
    directions, rows, columns, _, batch = inputs.shape
    return inputs.new_zeros(directions, rows + 1, columns + 1, units, batch)


def _to_grid(values: Tensor, inside: Tensor) -> Tensor:
    """Turn (D, B, m, n, f) into (D, m, n, f, B), with zeros outside the rectangles."""
    real = values.masked_fill(~inside[..., None], 0.0)
    grid = real.new_empty(real.movedim(1, -1).shape)
    # One matrix per direction: PyTorch transposes these several times faster.
    for target, source in zip(grid, real, strict=True):
        target.flatten(0, 2).copy_(source.flatten(1).t())
    return grid


def _from_grid(grid: Tensor, inside: Tensor) -> Tensor:
    """Invert `_to_grid`."""
    values = grid.new_empty(grid.movedim(-1, 1).shape)
    for target, source in zip(values, grid, strict=True):
        target.flatten(1).copy_(source.flatten(0, 2).t())
    return values.masked_fill_(~inside[..., None], 0.0)

"""The backward kernel of the spatial GRU on a GPU; see `triton_forward` for its memory layout."""

# mypy: disable-error-code="untyped-decorator"

import triton
import triton.language as tl

from matchwork.kernels.spatial_gru.triton_forward import neighbours, reached, tanh


@triton.jit(do_not_specialize=["batch", "rows", "columns"])
def sweep_backward(
    lengths: tl.tensor,  # (B, 2)
    matrix: tl.tensor,  # (D, 3u + c + 1, 8u): from the inputs of a cell to its logits
    recall: tl.tensor,  # (D, 3u, u): from the neighbours after their reset gates to the candidate
    states: tl.tensor,  # (D, B, m, n, u)
    upstream: tl.tensor,  # (D, B, m, n, u): gradient of the states
    logits: tl.tensor,  # (D, B, m, n, 8u): gates by mix, open reset gates by reach, candidate
    wanted: tl.tensor,  # (D, B, 3, m, 7u): buffer for the neighbours' gradients of three diagonals
    batch: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    CHANNELS: tl.constexpr,
    TANH: tl.constexpr,
    UNITS: tl.constexpr,
    WIDE: tl.constexpr,
    REACH: tl.constexpr,
    CELLS: tl.constexpr,
    RESIDENT: tl.constexpr,
) -> None:
    """Replace the logits inside the real rectangle by their gradients."""
    program = tl.program_id(0)
    direction, item = program // batch, program % batch
    height = tl.minimum(tl.load(lengths + item * 2), rows).to(tl.int32)
    width = tl.minimum(tl.load(lengths + item * 2 + 1), columns).to(tl.int32)
    states += program.to(tl.int64) * rows * columns * UNITS
    upstream += program.to(tl.int64) * rows * columns * UNITS
    logits += program.to(tl.int64) * rows * columns * 8 * UNITS
    wanted += program.to(tl.int64) * rows * 21 * UNITS
    matrix += direction * (3 * UNITS + CHANNELS + 1) * 8 * UNITS
    recall += direction * 3 * UNITS * UNITS

    reach, mix, unit = tl.arange(0, REACH), tl.arange(0, 4 * WIDE), tl.arange(0, WIDE)
    side = tl.arange(0, 4)[None, None, :]
    own, down, right = side == 0, side // 2, side % 2
    in_mix = unit[None, :, None] * 4 + side
    from_content = _back(recall, UNITS, unit, UNITS, reach, UNITS)
    if RESIDENT:
        from_gates = _back(matrix, 8 * UNITS, mix, 4 * UNITS, reach, UNITS)
        from_resets = _back(matrix + 4 * UNITS, 8 * UNITS, reach, 3 * UNITS, reach, UNITS)

    k = height + width - 2
    start = tl.maximum(0, k - width + 1)
    if tl.minimum(height, width) <= 0:
        k = -1
    while k >= 0:
        last = tl.minimum(height - 1, k)
        row = start + tl.arange(0, CELLS)
        column, live = k - row, row <= last
        cell = row * columns + column
        real = live[:, None] & (unit < UNITS)[None, :]
        in_reach = live[:, None] & (reach < 3 * UNITS)[None, :]
        here = (cell * UNITS)[:, None] + unit[None, :]
        line = logits + cell * 8 * UNITS

        # Gradients from the cells to the right, below and diagonally below.
        later = (row[:, None, None] + down < height) & (column[:, None, None] + right < width)
        later &= real[:, :, None] & (side > 0)
        lane = (k + down + right) % 3 * rows + row[:, None, None] + down
        lane = wanted + lane * 7 * UNITS
        g = tl.load(lane + (side - 1) * UNITS + unit[None, :, None], mask=later, other=0.0)
        g += tl.load(lane + 3 * UNITS + in_mix, mask=later, other=0.0)
        g = tl.sum(g, axis=2) + tl.load(upstream + here, mask=real, other=0.0)

        h = tl.load(states + here, mask=real, other=0.0)
        near = reached(states, row, column, live, columns, reach, UNITS)
        sides = neighbours(states, row, column, live, columns, mix % 4, mix // 4, UNITS)
        gates = tl.load(line[:, None, None] + in_mix, mask=real[:, :, None], other=0.0)
        resets = tl.load(line[:, None] + 4 * UNITS + reach[None, :], mask=in_reach, other=0.0)
        content = tl.load(line[:, None] + 7 * UNITS + unit[None, :], mask=real, other=0.0)
        tl.debug_barrier()  # everything has been read before it is overwritten

        if TANH:
            content = tanh(content)
        gates = tl.exp(gates - tl.max(gates, axis=2)[:, :, None])
        to_sides = gates / tl.sum(gates, axis=2)[:, :, None] * g[:, :, None]
        # The gates are a softmax and h is their mixture: d logit = z * (value - h) * g.
        values = tl.where(own, content[:, :, None], tl.reshape(sides, (CELLS, WIDE, 4)))
        to_gates = to_sides * (values - h[:, :, None])
        to_content = tl.sum(tl.where(own, to_sides, 0.0), axis=2)
        if TANH:
            to_content *= 1.0 - content * content
        to_near = tl.dot(to_content, from_content, input_precision="tf32x3")
        to_resets = to_near * near * resets * (1.0 - resets)
        to_near *= resets
        tl.store(line[:, None, None] + in_mix, to_gates, mask=real[:, :, None])
        tl.store(line[:, None] + 4 * UNITS + reach[None, :], to_resets, mask=in_reach)
        tl.store(line[:, None] + 7 * UNITS + unit[None, :], to_content, mask=real)
        if RESIDENT:
            flat = tl.reshape(to_gates, (CELLS, 4 * WIDE))
            to_near = tl.dot(flat, from_gates, to_near, input_precision="tf32x3")
            to_near = tl.dot(to_resets, from_resets, to_near, input_precision="tf32x3")
        else:
            tl.debug_barrier()
            for first in range(0, 7 * UNITS, 16):
                part = first + tl.arange(0, 16)
                kept = live[:, None] & (part < 7 * UNITS)[None, :]
                one = tl.load(line[:, None] + part[None, :], mask=kept, other=0.0)
                back = _back(matrix, 8 * UNITS, part, 7 * UNITS, reach, UNITS)
                to_near = tl.dot(one, back, to_near, input_precision="tf32x3")
        lane = wanted + (k % 3 * rows + row) * 7 * UNITS
        tl.store(lane[:, None] + reach[None, :], to_near, mask=in_reach)
        tl.store(lane[:, None, None] + 3 * UNITS + in_mix, to_sides, mask=real[:, :, None])
        tl.debug_barrier()
        start += CELLS
        if start > last:
            k -= 1
            start = tl.maximum(0, k - width + 1)


@triton.jit
def _back(
    matrix: tl.tensor,
    stride: tl.tensor,
    output: tl.tensor,
    END: tl.constexpr,
    reach: tl.tensor,
    UNITS: tl.constexpr,
) -> tl.tensor:
    """Load transposed weights: from the outputs before `END` to the neighbours."""
    real = (output < END)[:, None] & (reach < 3 * UNITS)[None, :]
    return tl.load(matrix + reach[None, :] * stride + output[:, None], mask=real, other=0.0)

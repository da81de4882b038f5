"""The forward kernel of the spatial GRU on a GPU, and the memory layout of both kernels.

A program sweeps one pair in one direction from anti-diagonal to anti-diagonal, a tile of cells
at a time, on the tensor cores; "tf32x3" products keep the precision of float32. A barrier makes
one thread's writes visible to the program's other threads.

Values of a cell are in one of two orders. `reach`: the units of its left, top and diagonal
neighbours, one neighbour after the other. `mix`: unit by unit its four sides, the cell itself and
its left, top and diagonal neighbours. A softmax over the sides then stays within few threads, and
the candidate, which stands for the cell itself, is aligned with its gate.

`UNITS` is the width of a state; `WIDE` and `REACH` are the powers of two that hold one state and
three, since tiles need such widths. Entries past the real ones are zero or never stored.
`RESIDENT` weights stay in registers for the whole sweep. The loop is a `while` because the
compiler would move their conversions into a `for` and repeat them at every tile.
"""

# mypy: disable-error-code="untyped-decorator"

import triton
import triton.language as tl


@triton.jit
def neighbours(
    states: tl.tensor,
    row: tl.tensor,
    column: tl.tensor,
    live: tl.tensor,
    columns: tl.tensor,
    side: tl.tensor,
    unit: tl.tensor,
    UNITS: tl.constexpr,
) -> tl.tensor:
    """Load units of the sides 1 left, 2 top, 3 diagonal; zeros for others and at the border."""
    up, back = (side // 2)[None, :], (side % 2)[None, :]
    there = live[:, None] & (row[:, None] >= up) & (column[:, None] >= back)
    real = (side > 0) & (side < 4) & (unit < UNITS)
    cell = (row[:, None] - up) * columns + column[:, None] - back
    return tl.load(states + cell * UNITS + unit[None, :], mask=there & real[None, :], other=0.0)


@triton.jit
def reached(
    states: tl.tensor,
    row: tl.tensor,
    column: tl.tensor,
    live: tl.tensor,
    columns: tl.tensor,
    reach: tl.tensor,
    UNITS: tl.constexpr,
) -> tl.tensor:
    """Load the neighbours' units in the order `reach`."""
    return neighbours(states, row, column, live, columns, reach // UNITS + 1, reach % UNITS, UNITS)


@triton.jit
def tanh(x: tl.tensor) -> tl.tensor:
    """Compute tanh; near zero by its series, since the exponential form cancels there."""
    decay = tl.exp(-2.0 * tl.abs(x))
    far = (1.0 - decay) / (1.0 + decay)
    square = x * x
    series = 2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0))
    series = 1.0 + square * (-1.0 / 3.0 + square * series)
    return tl.where(tl.abs(x) < 0.25, x * series, tl.where(x < 0, -far, far))


@triton.jit(do_not_specialize=["batch", "rows", "columns"])
def sweep_forward(
    scans: tl.tensor,  # (D, B, m, n, c)
    lengths: tl.tensor,  # (B, 2)
    reset: tl.tensor,  # this and the next six as in SpatialWeights
    reset_bias: tl.tensor,
    gate: tl.tensor,
    gate_bias: tl.tensor,
    input: tl.tensor,
    state: tl.tensor,
    bias: tl.tensor,
    states: tl.tensor,  # (D, B, m, n, u): zeros
    batch: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    CHANNELS: tl.constexpr,
    GATES: tl.constexpr,
    RESET: tl.constexpr,
    TANH: tl.constexpr,
    UNITS: tl.constexpr,
    WIDE: tl.constexpr,
    REACH: tl.constexpr,
    CELLS: tl.constexpr,
    RESIDENT: tl.constexpr,
) -> None:
    """Fill `states` inside the real rectangle."""
    program = tl.program_id(0)
    direction, item = program // batch, program % batch
    height = tl.minimum(tl.load(lengths + item * 2), rows).to(tl.int32)
    width = tl.minimum(tl.load(lengths + item * 2 + 1), columns).to(tl.int32)
    scans += program.to(tl.int64) * rows * columns * CHANNELS
    states += program.to(tl.int64) * rows * columns * UNITS
    AROUND: tl.constexpr = 3 * UNITS + CHANNELS
    PART: tl.constexpr = REACH if RESIDENT else 16
    if RESET:
        reset += direction * 3 * GATES * AROUND
        reset_bias += direction * 3 * GATES

    reach, mix, unit = tl.arange(0, REACH), tl.arange(0, 4 * WIDE), tl.arange(0, WIDE)
    own = (tl.arange(0, 4) == 0)[None, None, :]
    # Entries past the last unit repeat it, a shared gate serves all, candidates are on every side.
    to_gate = direction * 4 * GATES + mix % 4 * GATES + tl.minimum(mix // 4, GATES - 1)
    to_unit = direction * UNITS + tl.minimum(mix // 4, UNITS - 1)
    gate_bias, bias = tl.load(gate_bias + to_gate)[None, :], tl.load(bias + to_unit)[None, :]
    gate += to_gate * AROUND
    input += to_unit * CHANNELS
    state += to_unit * 3 * UNITS
    scan_gate = _weights(gate + 3 * UNITS, 0, 16, CHANNELS, 0)
    near_gate = _weights(gate, 0, REACH, 3 * UNITS, UNITS)
    scan_content = _weights(input, 0, 16, CHANNELS, 0)
    near_content = _weights(state, 0, REACH, 3 * UNITS, 0)
    if RESET:
        all_lines = reset + _resets(reach, UNITS, GATES) * AROUND
        scan_reset = _weights(all_lines + 3 * UNITS, 0, 16, CHANNELS, 0)
        near_reset = _weights(all_lines, 0, REACH, 3 * UNITS, UNITS)

    k, start = 0, 0
    diagonals = tl.where(tl.minimum(height, width) > 0, height + width - 1, 0)
    while k < diagonals:
        last = tl.minimum(height - 1, k)
        row = start + tl.arange(0, CELLS)
        column, live = k - row, row <= last
        cell = row * columns + column
        near = reached(states, row, column, live, columns, reach, UNITS)
        sides = neighbours(states, row, column, live, columns, mix % 4, mix // 4, UNITS)

        gates = tl.zeros((CELLS, 4 * WIDE), tl.float32) + gate_bias
        content = tl.zeros((CELLS, 4 * WIDE), tl.float32) + bias
        for first in range(0, CHANNELS, 16):
            s = _inputs(scans, cell, live, first, CHANNELS)
            gates = _add(gates, s, scan_gate, gate + 3 * UNITS, first, CHANNELS, 0, RESIDENT)
            content = _add(content, s, scan_content, input, first, CHANNELS, 0, RESIDENT)
        for first in range(0, REACH, PART):
            part = first + tl.arange(0, PART)
            h = reached(states, row, column, live, columns, part, UNITS)
            gates = _add(gates, h, near_gate, gate, first, 3 * UNITS, UNITS, RESIDENT)
            if RESET:
                to = _resets(part, UNITS, GATES)
                lines = reset + to * AROUND
                r = tl.zeros((CELLS, PART), tl.float32) + tl.load(reset_bias + to)[None, :]
                for channel in range(0, CHANNELS, 16):
                    s = _inputs(scans, cell, live, channel, CHANNELS)
                    r = _add(r, s, scan_reset, lines + 3 * UNITS, channel, CHANNELS, 0, RESIDENT)
                r = _add(r, near, near_reset, lines, 0, 3 * UNITS, UNITS, RESIDENT)
                h *= tl.sigmoid(r)
            content = _add(content, h, near_content, state, first, 3 * UNITS, 0, RESIDENT)

        content = tl.max(tl.reshape(content, (CELLS, WIDE, 4)), axis=2)  # all sides are equal
        if TANH:
            content = tanh(content)
        gates = tl.reshape(gates, (CELLS, WIDE, 4))
        gates = tl.exp(gates - tl.max(gates, axis=2)[:, :, None])
        values = tl.where(own, content[:, :, None], tl.reshape(sides, (CELLS, WIDE, 4)))
        mixture = tl.sum(gates * values, axis=2)
        here = states + (cell * UNITS)[:, None] + unit[None, :]
        real = live[:, None] & (unit < UNITS)[None, :]
        tl.store(here, mixture / tl.sum(gates, axis=2), mask=real)
        tl.debug_barrier()
        start += CELLS
        if start > last:
            k += 1
            start = tl.maximum(0, k - width + 1)


@triton.jit
def _inputs(
    scans: tl.tensor, cell: tl.tensor, live: tl.tensor, first: tl.tensor, CHANNELS: tl.constexpr
) -> tl.tensor:
    """Load sixteen channels of the cells' inputs."""
    channel = first + tl.arange(0, 16)
    real = live[:, None] & (channel < CHANNELS)[None, :]
    return tl.load(scans + (cell * CHANNELS)[:, None] + channel[None, :], mask=real, other=0.0)


@triton.jit
def _resets(reach: tl.tensor, UNITS: tl.constexpr, GATES: tl.constexpr) -> tl.tensor:
    """Return the reset gate of each unit of the neighbours; arbitrary past the real ones."""
    return tl.minimum(reach // UNITS, 2) * GATES + tl.minimum(reach % UNITS, GATES - 1)


@triton.jit
def _weights(
    lines: tl.tensor,
    first: tl.tensor,
    LENGTH: tl.constexpr,
    END: tl.constexpr,
    SWAP: tl.constexpr,
) -> tl.tensor:
    """Load the weights of `LENGTH` features for the outputs in `lines`; zeros from `END` on.

    The columns of gates are top, left, diagonal; with `SWAP` units, load left, top, diagonal.
    """
    feature = first + tl.arange(0, LENGTH)
    turn = tl.where(feature < SWAP, SWAP, tl.where(feature < 2 * SWAP, -SWAP, 0))
    address = lines[None, :] + (feature + turn)[:, None]
    return tl.load(address, mask=(feature < END)[:, None], other=0.0)


@triton.jit
def _add(
    total: tl.tensor,
    values: tl.tensor,
    held: tl.tensor,
    lines: tl.tensor,
    first: tl.tensor,
    END: tl.constexpr,
    SWAP: tl.constexpr,
    RESIDENT: tl.constexpr,
) -> tl.tensor:
    """Add the product of features and weights, which are in registers (`held`) or loaded now."""
    weights = held if RESIDENT else _weights(lines, first, values.shape[1], END, SWAP)
    return tl.dot(values, weights, total, input_precision="tf32x3")

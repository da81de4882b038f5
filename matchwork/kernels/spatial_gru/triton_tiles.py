"""Memory layout shared by the forward and backward kernels of the spatial GRU on a GPU.

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

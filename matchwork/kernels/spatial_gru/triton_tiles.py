"""What both GPU kernels of the spatial GRU share: how they lay out what a cell reads and holds.

A program sweeps one pair in one direction from anti-diagonal to anti-diagonal, a tile of cells
at a time, and multiplies on the tensor cores; three products of short halves ("tf32x3") keep the
precision of float32. A barrier shows what one thread of a program wrote to the others.

What a cell reads or holds lies in one of two orders. `reach`: the units of its neighbours left,
top, diagonal, one neighbour after the other. `mix`: unit after unit its four sides, the cell
itself and its neighbours left, top, diagonal. A softmax over the sides then stays among few
threads, and the candidate, which takes the place of the cell itself, lies where its gate does.

`UNITS` is the width of a state; `WIDE` and `REACH` are the powers of two that hold one state and
three, as no other width fits a tile. Places past the real ones hold zeros or are never stored.
`RESIDENT` weights stay in registers for the whole sweep. It is a `while` because the compiler
moves their conversions into a `for`, where they would happen at every tile.
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
    """Units of the sides 1 left, 2 top, 3 diagonal; zeros for others and beyond the border."""
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
    """The neighbours' units in the order `reach`."""
    return neighbours(states, row, column, live, columns, reach // UNITS + 1, reach % UNITS, UNITS)


@triton.jit
def tanh(x: tl.tensor) -> tl.tensor:
    """The exponential form cancels near zero, where five terms of the series are exact."""
    decay = tl.exp(-2.0 * tl.abs(x))
    far = (1.0 - decay) / (1.0 + decay)
    square = x * x
    series = 2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0))
    series = 1.0 + square * (-1.0 / 3.0 + square * series)
    return tl.where(tl.abs(x) < 0.25, x * series, tl.where(x < 0, -far, far))

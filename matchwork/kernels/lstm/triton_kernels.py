"""Triton kernels for LSTMs: each program takes some texts through all their steps.

One launch serves all words. The input part of the gates' logits is given; a program adds the
recurrent part and keeps state and cell in registers. Gates are in the order input, forget, cell,
output; streams are the directions of each stack in turn.
"""

# mypy: disable-error-code="untyped-decorator"

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["batch", "length"])
def read_texts(
    gates: tl.tensor,  # (stacks, batch, length, 2, 4, units): logits, then the open gates
    lengths: tl.tensor,  # (batch)
    recurrent: tl.tensor,  # (stacks, 2, units, 4, units)
    cells: tl.tensor,  # (stacks, batch, length, 2, units)
    states: tl.tensor,  # the same, zeros at padding
    batch: tl.tensor,
    length: tl.tensor,
    UNITS: tl.constexpr,
    WIDE: tl.constexpr,
    TEXTS: tl.constexpr,
) -> None:
    """Fill `cells` and `states` up to the end of each text; replace the logits by the gates."""
    stream, text, ends = _texts(lengths, batch, TEXTS)
    unit, first = tl.arange(0, WIDE), _first_word(stream, text, batch, length)
    state, cell = tl.zeros((TEXTS, WIDE), tl.float32), tl.zeros((TEXTS, WIDE), tl.float32)
    weights, inside = _weights(recurrent, stream, UNITS, WIDE)
    for step in range(0, tl.max(ends)):
        word = first + tl.where(stream % 2 == 0, step, ends - 1 - step) * 2
        live = (step < ends)[:, None] & (unit < UNITS)[None, :]
        at = word[:, None] * 4 * UNITS + unit[None, :]
        # Weights are loaded in every step: all four matrices do not fit in shared memory.
        i = tl.load(gates + at, live, 0.0) + _dot(state, tl.load(weights, inside, 0.0))
        f = tl.load(gates + at + UNITS, live, 0.0)
        f += _dot(state, tl.load(weights + UNITS, inside, 0.0))
        g = tl.load(gates + at + 2 * UNITS, live, 0.0)
        g += _dot(state, tl.load(weights + 2 * UNITS, inside, 0.0))
        o = tl.load(gates + at + 3 * UNITS, live, 0.0)
        o += _dot(state, tl.load(weights + 3 * UNITS, inside, 0.0))
        i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), _tanh(g), tl.sigmoid(o)
        cell = f * cell + i * g
        state = tl.where(live, o * _tanh(cell), 0.0)
        tl.store(gates + at, i, live)
        tl.store(gates + at + UNITS, f, live)
        tl.store(gates + at + 2 * UNITS, g, live)
        tl.store(gates + at + 3 * UNITS, o, live)
        tl.store(cells + word[:, None] * UNITS + unit[None, :], cell, live)
        tl.store(states + word[:, None] * UNITS + unit[None, :], state, live)


@triton.jit(do_not_specialize=["batch", "length"])
def read_back(
    gates: tl.tensor,  # gates from `read_texts`; replaced by the gradients of the logits
    lengths: tl.tensor,
    recurrent: tl.tensor,
    cells: tl.tensor,
    gradient: tl.tensor,  # of the states
    batch: tl.tensor,
    length: tl.tensor,
    UNITS: tl.constexpr,
    WIDE: tl.constexpr,
    TEXTS: tl.constexpr,
) -> None:
    """Compute the gradients of all logits, from the last step to the first."""
    stream, text, ends = _texts(lengths, batch, TEXTS)
    unit, first = tl.arange(0, WIDE), _first_word(stream, text, batch, length)
    d_state, d_cell = tl.zeros((TEXTS, WIDE), tl.float32), tl.zeros((TEXTS, WIDE), tl.float32)
    weights, inside = _weights(recurrent, stream, UNITS, WIDE)
    ahead = tl.where(stream % 2 == 0, 1, -1)
    for back in range(0, tl.max(ends)):
        step = tl.max(ends) - 1 - back + tl.zeros_like(ends)
        word = first + tl.where(stream % 2 == 0, step, ends - 1 - step) * 2
        live = (step < ends)[:, None] & (unit < UNITS)[None, :]
        at = word[:, None] * 4 * UNITS + unit[None, :]
        i = tl.load(gates + at, live, 0.0)
        f = tl.load(gates + at + UNITS, live, 0.0)
        g = tl.load(gates + at + 2 * UNITS, live, 0.0)
        o = tl.load(gates + at + 3 * UNITS, live, 0.0)
        here = word[:, None] * UNITS + unit[None, :]
        curve = _tanh(tl.load(cells + here, live, 0.0))
        before = tl.load(cells + here - ahead * 2 * UNITS, live & (step > 0)[:, None], 0.0)
        d_state += tl.load(gradient + here, live, 0.0)
        d_cell += d_state * o * (1.0 - curve * curve)
        d_input = d_cell * g * i * (1.0 - i)
        d_forget = d_cell * before * f * (1.0 - f)
        d_new = d_cell * i * (1.0 - g * g)
        d_output = d_state * curve * o * (1.0 - o)
        tl.store(gates + at, d_input, live)
        tl.store(gates + at + UNITS, d_forget, live)
        tl.store(gates + at + 2 * UNITS, d_new, live)
        tl.store(gates + at + 3 * UNITS, d_output, live)
        d_cell *= f
        d_state = _dot(d_input, tl.trans(tl.load(weights, inside, 0.0)))
        d_state += _dot(d_forget, tl.trans(tl.load(weights + UNITS, inside, 0.0)))
        d_state += _dot(d_new, tl.trans(tl.load(weights + 2 * UNITS, inside, 0.0)))
        d_state += _dot(d_output, tl.trans(tl.load(weights + 3 * UNITS, inside, 0.0)))


@triton.jit
def _texts(
    lengths: tl.tensor, batch: tl.tensor, TEXTS: tl.constexpr
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Return the stream of this program, its texts and their lengths (0 past the batch)."""
    text = tl.program_id(1) * TEXTS + tl.arange(0, TEXTS)
    return tl.program_id(0), text, tl.load(lengths + text, text < batch, 0).to(tl.int32)


@triton.jit
def _first_word(
    stream: tl.tensor, text: tl.tensor, batch: tl.tensor, length: tl.tensor
) -> tl.tensor:
    """Return the row of each text's first word among those of (stacks, batch, length, 2)."""
    return ((stream // 2 * batch + text).to(tl.int64) * length) * 2 + stream % 2


@triton.jit
def _weights(
    recurrent: tl.tensor, stream: tl.tensor, UNITS: tl.constexpr, WIDE: tl.constexpr
) -> tuple[tl.tensor, tl.tensor]:
    """Return addresses of the weights from the state to the first gate, and which exist."""
    unit = tl.arange(0, WIDE)
    at = recurrent + stream * UNITS * 4 * UNITS + unit[:, None] * 4 * UNITS + unit[None, :]
    return at, (unit < UNITS)[:, None] & (unit < UNITS)[None, :]


@triton.jit
def _dot(values: tl.tensor, weights: tl.tensor) -> tl.tensor:
    return tl.dot(values, weights, input_precision="tf32x3")


@triton.jit
def _tanh(x: tl.tensor) -> tl.tensor:
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0

"""Bidirectional LSTMs on a GPU: each Triton program takes some texts through all their steps.

One launch serves all words. The input part of the gates' logits is given; a program adds the
recurrent part and keeps state and cell in registers. Streams are the directions of each stack in
turn.
"""

# mypy: disable-error-code="untyped-decorator"

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.kernels.lstm.steps import previous_states

MAX_UNITS = 128  # the weights of a gate must fit in shared memory
_TEXTS = 16  # per program: the least that a tensor core multiplies


def states_of(gates: Tensor, mask: Tensor, recurrent: Tensor) -> Tensor:
    """Return the states of all words; see `steps.states_of`, with the bias in `gates`."""
    states: Tensor = _Reading.apply(  # type: ignore[no-untyped-call]
        gates, mask.sum(1), recurrent
    )
    return states


class _Reading(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, lengths: Tensor, recurrent: Tensor) -> Tensor:
        stacks, batch, length, width = gates.shape
        gates, recurrent = gates.clone(), recurrent.contiguous()
        states = gates.new_zeros(stacks, batch, length, width // 4)
        cells = torch.empty_like(states)
        grid, options = _launch(stacks, batch, width // 8)
        read_texts[grid](gates, lengths, recurrent, cells, states, batch, length, **options)
        ctx.save_for_backward(gates, lengths, recurrent, cells, states)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor]:
        opened, lengths, recurrent, cells, states = ctx.saved_tensors
        stacks, batch, length, width = opened.shape
        words = torch.arange(length, device=lengths.device) < lengths.unsqueeze(1)
        gates = opened.masked_fill(~words.unsqueeze(-1), 0.0)  # padding has no gradient
        grid, options = _launch(stacks, batch, width // 8)
        read_back[grid](
            gates, lengths, recurrent, cells, gradients[0].contiguous(), batch, length, **options
        )
        by_stream = gates.view(stacks, batch, length, 2, -1).permute(0, 3, 1, 2, 4).flatten(2, 3)
        before = previous_states(states.view(stacks, batch, length, 2, -1))
        return gates, None, before.permute(0, 3, 4, 1, 2).flatten(3) @ by_stream


def _launch(stacks: int, batch: int, units: int) -> tuple[tuple[int, int], dict[str, int]]:
    wide = max(16, triton.next_power_of_2(units))
    grid = (2 * stacks, triton.cdiv(batch, _TEXTS))
    cut = {"UNITS": units, "WIDE": wide, "TEXTS": _TEXTS}
    return grid, {**cut, "num_warps": 4 if wide <= 64 else 8, "num_stages": 1}


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
    stream, text = tl.program_id(0), tl.program_id(1) * TEXTS + tl.arange(0, TEXTS)
    ends = tl.load(lengths + text, text < batch, 0).to(tl.int32)  # 0 past the batch
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
    stream, text = tl.program_id(0), tl.program_id(1) * TEXTS + tl.arange(0, TEXTS)
    ends = tl.load(lengths + text, text < batch, 0).to(tl.int32)  # 0 past the batch
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

"""Bidirectional LSTMs on a GPU: one Triton kernel forward and one backward."""

from typing import Any

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.kernels.lstm.triton_kernels import read_back, read_texts

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
        before = _before(states.view(stacks, batch, length, 2, -1))
        return gates, None, before.permute(0, 3, 4, 1, 2).flatten(3) @ by_stream


def _launch(stacks: int, batch: int, units: int) -> tuple[tuple[int, int], dict[str, int]]:
    wide = max(16, triton.next_power_of_2(units))
    grid = (2 * stacks, triton.cdiv(batch, _TEXTS))
    cut = {"UNITS": units, "WIDE": wide, "TEXTS": _TEXTS}
    return grid, {**cut, "num_warps": 4 if wide <= 64 else 8, "num_stages": 1}


def _before(states: Tensor) -> Tensor:
    """Return each direction's previous state, shape (stacks, batch, length, 2, units)."""
    before = torch.zeros_like(states)
    before[:, :, 1:, 0] = states[:, :, :-1, 0]
    before[:, :, :-1, 1] = states[:, :, 1:, 1]
    return before

"""Bidirectional LSTMs that may be handed their input already multiplied with its weights."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class BiLSTM(nn.Module):
    """`num_stacks` independent bidirectional LSTMs, read side by side: one step serves them all.

    Gates are in the order input, forget, cell, output; those of the forward direction come
    first. `weight` is (stacks, dim, 8 units), `recurrent` (stacks, 2, units, 4 units), `bias`
    (stacks, 8 units). Initial values are those of Keras: Glorot, orthogonal, forget bias 1.
    """

    def __init__(self, dim: int, units: int, num_stacks: int = 1) -> None:
        super().__init__()
        bound = math.sqrt(6 / (dim + 4 * units))
        self.weight = nn.Parameter(torch.empty(num_stacks, dim, 8 * units).uniform_(-bound, bound))
        self.recurrent = nn.Parameter(torch.empty(num_stacks, 2, units, 4 * units))
        self.bias = nn.Parameter(torch.zeros(num_stacks, 8 * units))
        for matrix in self.recurrent.flatten(0, 1):
            nn.init.orthogonal_(matrix)
        with torch.no_grad():
            self.bias.view(num_stacks, 2, 4, units)[:, :, 1] = 1.0

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(stacks, batch, length, dim) to states of shape (stacks, batch, length, 2 units)."""
        return self.read(project(vectors, self.weight), mask)

    def read(self, gates: Tensor, mask: Tensor, stacks: slice = slice(None)) -> Tensor:
        """States from input that is multiplied already, (stacks, batch, length, 8 units).

        `gates` are used up; they are those of the chosen `stacks`. A text ends where its mask
        does: states are 0 at padding, and the backward direction starts at the last word.
        """
        units = self.recurrent.shape[2]
        gates = gates.to(torch.promote_types(gates.dtype, torch.float32))
        gates += self.bias[stacks, None, None]
        # A closed input gate keeps the state at zero until the text begins.
        inputs = gates.view(*gates.shape[:3], 2, 4, units)[..., 0, :]
        inputs.masked_fill_(~mask[..., None, None], -torch.inf)
        states: Tensor = _Scan.apply(  # type: ignore[no-untyped-call]
            gates, self.recurrent[stacks].to(gates.dtype)
        )
        return states.masked_fill(~mask.unsqueeze(-1), 0.0)


def project(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(stacks, batch, length, dim) times (stacks, dim, width): one product for each stack."""
    rows = vectors.flatten(1, 2)
    made = rows @ weight if bias is None else torch.baddbmm(bias.unsqueeze(1), rows, weight)
    return made.view(*vectors.shape[:3], weight.shape[-1])


class _Scan(torch.autograd.Function):
    """Written by hand: the gradient of the weights is one product instead of one a step."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, recurrent: Tensor) -> Tensor:
        units = recurrent.shape[2]
        weights = recurrent.flatten(0, 1)
        z = _to_streams(gates)
        cells = z.new_empty(*z.shape[:3], units)
        states = torch.empty_like(cells)
        with torch.autocast(gates.device.type, enabled=False):
            for t, step in enumerate(z):
                if t:
                    step.baddbmm_(states[t - 1], weights)
                step[..., : 2 * units].sigmoid_()
                step[..., 2 * units : 3 * units].tanh_()
                step[..., 3 * units :].sigmoid_()
                i, f, g, o = step.chunk(4, dim=-1)
                torch.mul(i, g, out=cells[t])
                if t:
                    cells[t].addcmul_(f, cells[t - 1])
                torch.tanh(cells[t], out=states[t]).mul_(o)
        ctx.save_for_backward(z, cells, states, weights)
        return _from_streams(states)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        z, cells, states, weights = ctx.saved_tensors
        outer = _to_streams(gradients[0])
        slopes, through = _slopes(z, cells)
        forget, turned = z.chunk(4, dim=-1)[1], weights.mT
        d_state, d_cell = outer[-1], torch.zeros_like(cells[0])
        for t in reversed(range(len(z))):
            d_cell.addcmul_(d_state, through[t])
            # In place: what was the slope of a gate becomes its gradient.
            by_gate = slopes[t].view(*d_cell.shape[:2], 4, -1)
            by_gate[..., :3, :].mul_(d_cell.unsqueeze(-2))
            by_gate[..., 3, :].mul_(d_state)
            if t:
                d_state = torch.baddbmm(outer[t - 1], slopes[t], turned)
                d_cell.mul_(forget[t])
        before = states[:-1].transpose(0, 1).flatten(1, 2)
        d_weights = before.mT @ slopes[1:].transpose(0, 1).flatten(1, 2)
        return _from_streams(slopes), d_weights.view(-1, 2, *weights.shape[1:])


def _slopes(z: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """How cell and state follow the gates' inputs at every step, and the state its cell."""
    i, f, g, o = z.chunk(4, dim=-1)
    slopes, seen = torch.empty_like(z), cells.tanh()
    of_i, of_f, of_g, of_o = slopes.chunk(4, dim=-1)
    torch.mul(i * g, 1 - i, out=of_i)
    of_f[0] = 0.0
    torch.mul(f[1:] * (1 - f[1:]), cells[:-1], out=of_f[1:])
    torch.mul(i, 1 - g * g, out=of_g)
    torch.mul(o * seen, 1 - o, out=of_o)
    return slopes, o * (1 - seen * seen)


def _to_streams(values: Tensor) -> Tensor:
    """(stacks, batch, length, 2 width) to (length, 2 stacks, batch, width), each as it is read."""
    stacks, batch, length, width = values.shape
    by_step = values.view(stacks, batch, length, 2, width // 2).permute(2, 0, 3, 1, 4)
    streams = values.new_empty(by_step.shape)
    streams[:, :, 0] = by_step[:, :, 0]
    streams[:, :, 1] = by_step[:, :, 1].flip(0)
    return streams.flatten(1, 2)


def _from_streams(streams: Tensor) -> Tensor:
    """The inverse of `_to_streams`."""
    length, both, batch, width = streams.shape
    by_step = streams.view(length, both // 2, 2, batch, width)
    values = streams.new_empty(both // 2, batch, length, 2, width)
    values[..., 0, :] = by_step[:, :, 0].permute(1, 2, 0, 3)
    values[..., 1, :] = by_step[:, :, 1].flip(0).permute(1, 2, 0, 3)
    return values.flatten(-2)

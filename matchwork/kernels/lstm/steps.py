"""The steps of bidirectional LSTMs on a CPU: one matrix product per step for all texts."""

from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from matchwork.kernels.switch import kernel


def plain_states(gates: Tensor, mask: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
    """Compute `states_of` one word after the other; autograd gives the gradients."""
    stacks, batch, length, width = gates.shape
    logits = (gates + bias[:, None, None]).view(stacks, batch, length, 2, width // 2)
    zeros = gates.new_zeros(stacks, batch, width // 8)
    directions = []
    for direction in range(2):
        state, cell = zeros, zeros
        states = [zeros] * length
        for word in range(length) if direction == 0 else reversed(range(length)):
            step = logits[:, :, word, direction] + state @ recurrent[:, direction]
            i, f, g, o = step.chunk(4, dim=-1)
            real = mask[:, word, None]
            cell = torch.where(real, f.sigmoid() * cell + i.sigmoid() * g.tanh(), zeros)
            state = torch.where(real, o.sigmoid() * cell.tanh(), zeros)
            states[word] = state
        directions.append(torch.stack(states, dim=2))
    return torch.cat(directions, dim=-1)


@kernel("lstm", plain=plain_states)
def states_of(gates: Tensor, mask: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
    """Return the states of all words, shape (stacks, batch, length, 2 units); 0 at padding.

    `gates` are logits without the recurrent part, shape (stacks, batch, length, 8 units); `mask` is
    True at real words, with padding at the end; `recurrent` is (stacks, 2, units, 4 units).
    """
    states: Tensor = _Scan.apply(  # type: ignore[no-untyped-call]
        gates, recurrent, bias, *_reading_order(mask, len(gates))
    )
    return states


def _reading_order(mask: Tensor, stacks: int) -> tuple[Tensor, list[int]]:
    """Return the rows that each step reads, and how many texts are that long.

    Rows are those of (stacks, batch, length, 2); a step has (stacks, 2, texts) of them, the
    longest text first, so that the texts of a step are the first ones of the previous step.
    """
    batch, width = mask.shape
    lengths, texts = mask.sum(1).sort(descending=True, stable=True)
    steps = torch.arange(int(lengths[:1].sum()), device=mask.device).unsqueeze(1)
    active = lengths > steps
    words = torch.stack([steps.expand_as(active), lengths - 1 - steps], dim=1)
    directions = torch.arange(2, device=mask.device).unsqueeze(1)
    rows = 2 * (texts * width + words) + directions
    first = 2 * batch * width * torch.arange(stacks, device=mask.device)
    rows = first[:, None, None] + rows.unsqueeze(1)
    return rows[active[:, None, None].expand_as(rows)], active.sum(1).tolist()


class _Scan(torch.autograd.Function):
    """Run both directions and all stacks step by step, without the texts that have ended.

    tanh x is computed as 2 sigmoid(2x) - 1, a quarter of the cost: the logit of the cell gate is
    doubled, and one sigmoid serves all gates. The backward pass is written by hand, so that the
    gradient of the weights is one matrix product instead of one per step.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, recurrent: Tensor, bias: Tensor, order: Tensor, counts: list[int]
    ) -> Tensor:
        streams, units = 2 * len(gates), recurrent.shape[2]
        saving = any(ctx.needs_input_grad)
        scale = bias.new_ones(4, units).index_fill_(0, order.new_tensor([2]), 2.0).flatten()
        weights = recurrent.flatten(0, 1) * scale
        shift = bias.view(streams, 1, 4 * units) * scale
        size = len(order) if saving else streams * gates.shape[1]
        z, seen = gates.new_empty(size, 4 * units), gates.new_empty(size, units)
        cells = gates.new_empty(size if saving else 0, units)
        state, cell = gates.new_zeros(2, streams, gates.shape[1], units)
        rows = gates.reshape(-1, 4 * units)
        states = gates.new_zeros(len(rows), units)
        for count, block in zip(counts, _blocks(counts, streams), strict=True):
            here = block if saving else slice(0, streams * count)
            step, curve = z[here].view(streams, count, -1), seen[here].view(streams, count, -1)
            torch.index_select(rows, 0, order[block], out=z[here])
            torch.addcmul(shift, step, scale, out=step)
            now, c = state[:, :count], cell[:, :count]
            step.baddbmm_(now, weights).sigmoid_()
            i, f, g, o = step.chunk(4, dim=-1)
            c.mul_(f).addcmul_(i, g, value=2).sub_(i)
            torch.mul(c, 2, out=curve).sigmoid_().mul_(2).sub_(1)
            torch.mul(curve, o, out=now)
            states.index_copy_(0, order[block], now.reshape(-1, units))
            if saving:
                cells[block].view_as(c).copy_(c)
        made = states.view(*gates.shape[:3], 2 * units)
        ctx.save_for_backward(z, cells, seen, made, recurrent, order)
        ctx.counts = counts
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        z, cells, seen, states, recurrent, order = ctx.saved_tensors
        stacks, batch, length = states.shape[:3]
        streams, units = 2 * stacks, recurrent.shape[2]
        turned = recurrent.flatten(0, 1).mT
        outer = gradients[0].reshape(-1, units)
        d_rows = outer.new_zeros(len(outer), 4 * units)
        d_state, d_cell = outer.new_zeros(2, streams, batch, units)
        blocks = _blocks(ctx.counts, streams)
        for t in reversed(range(len(blocks))):
            count, block = ctx.counts[t], blocks[t]
            step, curve = z[block].view(streams, count, -1), seen[block].view(streams, count, -1)
            dh, dc = d_state[:, :count], d_cell[:, :count]
            dh += outer[order[block]].view_as(dh)
            i, f, g, o = step.chunk(4, dim=-1)
            dc += torch.ops.aten.tanh_backward(dh * o, curve)
            d_step = torch.empty_like(step)
            of_i, of_f, of_g, of_o = d_step.chunk(4, dim=-1)
            torch.mul(dc, g, out=of_i).mul_(2).sub_(dc)
            if t:
                before = cells[blocks[t - 1]].view(streams, -1, units)
                torch.mul(dc, before[:, :count], out=of_f)
            else:
                of_f.zero_()
            torch.mul(dc, i, out=of_g).mul_(4)
            torch.mul(dh, curve, out=of_o)
            torch.ops.aten.sigmoid_backward.grad_input(d_step, step, grad_input=d_step)
            d_rows.index_copy_(0, order[block], d_step.flatten(0, 1))
            if t:
                torch.bmm(d_step, turned, out=dh)
                dc *= f
        d_gates = d_rows.view(stacks, batch, length, 2, 4 * units)
        previous = previous_states(states.view(stacks, batch, length, 2, units))
        by_stream = d_gates.flatten(1, 2).transpose(1, 2)
        d_recurrent = previous.flatten(1, 2).permute(0, 2, 3, 1) @ by_stream
        d_bias = d_rows.view(stacks, batch * length, 8 * units).sum(1)
        return d_gates.flatten(-2), d_recurrent, d_bias, None, None


def _blocks(counts: list[int], streams: int) -> list[slice]:
    """Return the rows of each step as slices."""
    ends = accumulate((streams * count for count in counts), initial=0)
    return [slice(*both) for both in pairwise(ends)]


def previous_states(states: Tensor) -> Tensor:
    """Return each direction's previous state, shape (stacks, batch, length, 2, units)."""
    before = torch.zeros_like(states)
    before[:, :, 1:, 0] = states[:, :, :-1, 0]
    before[:, :, :-1, 1] = states[:, :, 1:, 1]
    return before

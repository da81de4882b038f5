"""LSTMs in plain PyTorch, one word after the other; autograd gives the gradients."""

import torch
from torch import Tensor


def states_of(gates: Tensor, mask: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
    """Return the states of all words; see `steps.states_of`."""
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


def states_from_vectors(
    vectors: Tensor, mask: Tensor, weight: Tensor, recurrent: Tensor, bias: Tensor
) -> Tensor:
    """Return the states of all words; see `gpu.states_on_gpu`."""
    with torch.autocast(vectors.device.type, enabled=False):
        dtype = torch.promote_types(vectors.dtype, torch.float32)
        vectors, weight, recurrent, bias = (
            part.to(dtype) for part in (vectors, weight, recurrent, bias)
        )
        return states_of(torch.einsum("sbld,sdw->sblw", vectors, weight), mask, recurrent, bias)

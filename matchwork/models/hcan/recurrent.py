"""Bidirectional LSTMs whose input projection can be computed beforehand."""

import math

import torch
from torch import Tensor, nn

from matchwork.kernels.lstm import states_of, states_on_gpu


class BiLSTM(nn.Module):
    """`num_stacks` independent bidirectional LSTMs that are computed together.

    Gates are ordered input, forget, cell, output, and the forward direction comes first. `weight`
    is (stacks, dim, 8 units), `recurrent` (stacks, 2, units, 4 units), `bias` (stacks, 8 units).
    Initial values follow Keras: Glorot, orthogonal, forget bias 1.
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
        """Map (stacks, batch, length, dim) to states, (stacks, batch, length, 2 units).

        States are 0 at padding, and the backward direction starts at the last real word.
        """
        if vectors.is_cuda:
            return states_on_gpu(vectors, mask, self.weight, self.recurrent, self.bias)
        return self.read(project_words(vectors, self.weight, mask), mask)

    def read(self, gates: Tensor, mask: Tensor, stacks: slice = slice(None)) -> Tensor:
        """Compute states of these stacks from projected input.

        `gates` is the input times `weight`, shape (chosen stacks, batch, length, 8 units).
        """
        gates = gates.to(torch.promote_types(gates.dtype, torch.float32))
        weights = (part[stacks].to(gates.dtype) for part in (self.recurrent, self.bias))
        return states_of(gates, mask, *weights)


def project(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply (stacks, batch, length, dim) by (stacks, dim, width), stack by stack."""
    rows = vectors.flatten(1, 2)
    made = rows @ weight if bias is None else torch.baddbmm(bias.unsqueeze(1), rows, weight)
    return made.view(*vectors.shape[:3], weight.shape[-1])


def project_words(
    vectors: Tensor, weight: Tensor, mask: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Like `project`, but 0 at padding, which is left out of the products on a CPU."""
    if mask.is_cuda:  # counting words would wait for the GPU
        return project(vectors, weight, bias).masked_fill(~mask.unsqueeze(-1), 0.0)
    words = mask.flatten().nonzero().squeeze(1)
    if len(words) == mask.numel():
        return project(vectors, weight, bias)
    made = project(vectors.flatten(1, 2)[:, None, words], weight, bias).squeeze(1)
    rows = made.new_zeros(len(made), mask.numel(), made.shape[-1]).index_copy_(1, words, made)
    return rows.view(*vectors.shape[:3], -1)

"""Bidirectional LSTMs that may be handed their input already multiplied with its weights."""

import math

import torch
from torch import Tensor, nn

from matchwork.kernels.lstm import states_of, states_on_gpu


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
        """(stacks, batch, length, dim) to states of shape (stacks, batch, length, 2 units).

        A text ends where its mask does: states are 0 at padding, and the backward direction
        starts at the last word.
        """
        if vectors.is_cuda:  # there a step on its own costs more than all that is in it
            return states_on_gpu(vectors, mask, self.weight, self.recurrent, self.bias)
        return self.read(project_words(vectors, self.weight, mask), mask)

    def read(self, gates: Tensor, mask: Tensor, stacks: slice = slice(None)) -> Tensor:
        """States from input that is multiplied already, (stacks, batch, length, 8 units).

        `gates` are those of the chosen `stacks`.
        """
        gates = gates.to(torch.promote_types(gates.dtype, torch.float32))
        weights = (part[stacks].to(gates.dtype) for part in (self.recurrent, self.bias))
        return states_of(gates, mask, *weights)


def project(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(stacks, batch, length, dim) times (stacks, dim, width): one product for each stack."""
    rows = vectors.flatten(1, 2)
    made = rows @ weight if bias is None else torch.baddbmm(bias.unsqueeze(1), rows, weight)
    return made.view(*vectors.shape[:3], weight.shape[-1])


def project_words(
    vectors: Tensor, weight: Tensor, mask: Tensor, bias: Tensor | None = None
) -> Tensor:
    """The same, but 0 at padding, which on a CPU takes no part in the products."""
    if mask.is_cuda:  # how many words there are is not worth waiting for
        return project(vectors, weight, bias).masked_fill(~mask.unsqueeze(-1), 0.0)
    words = mask.flatten().nonzero().squeeze(1)
    if len(words) == mask.numel():
        return project(vectors, weight, bias)
    made = project(vectors.flatten(1, 2)[:, None, words], weight, bias).squeeze(1)
    rows = made.new_zeros(len(made), mask.numel(), made.shape[-1]).index_copy_(1, words, made)
    return rows.view(*vectors.shape[:3], -1)

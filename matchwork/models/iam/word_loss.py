"""Cross entropy over a vocabulary, computed for one block of rows at a time.

The logits of a batch (tokens x words) are the largest tensor of a language model. Here loss and
gradients of a block are computed together, so that only one block is in memory.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from matchwork.kernels import kernel

# Logits of a block: they should fit a CPU's cache; a GPU needs larger blocks.
_ENTRIES = {"cpu": 2**20, "cuda": 2**26}


def _plain(states: Tensor, weight: Tensor, bias: Tensor, classes: Tensor) -> Tensor:
    logits = functional.linear(states, weight).to(bias.dtype) + bias
    return functional.cross_entropy(logits, classes, reduction="sum")


@kernel("word-loss", plain=_plain)
def word_loss(states: Tensor, weight: Tensor, bias: Tensor, classes: Tensor) -> Tensor:
    """Return the summed negative log likelihood of the classes; logits are `states weightᵀ + bias`.

    Shapes are (rows, dim), (words, dim), (words,) and (rows,). Under autocast, products have its
    dtype and sums that of the bias, as with a linear layer.
    """
    inputs = [states, weight, bias]
    if not torch.is_grad_enabled():  # the function below cannot see that
        inputs = [each.detach() for each in inputs]
    total: Tensor = _WordLoss.apply(*inputs, classes)  # type: ignore[no-untyped-call]
    return total


class _WordLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, classes: Tensor) -> Tensor:
        device = states.device.type
        fast = torch.is_autocast_enabled(device)
        kind = torch.get_autocast_dtype(device) if fast else bias.dtype
        inputs, matrix = states.to(kind), weight.to(kind)
        learns = any(ctx.needs_input_grad)
        gradients = [torch.zeros_like(each) for each in (states, weight, bias)] if learns else []
        total = bias.new_zeros(())
        num_rows = max(1, _ENTRIES.get(device, _ENTRIES["cuda"]) // len(weight))
        with torch.autocast(device, enabled=False):
            for start in range(0, len(states), num_rows):
                rows = slice(start, start + num_rows)
                target = classes[rows].unsqueeze(1)
                logits = functional.linear(inputs[rows], matrix).to(bias.dtype).add_(bias)
                likelihoods = logits.log_softmax(dim=1)
                total -= likelihoods.gather(1, target).sum()
                if learns:
                    slope = likelihoods.exp_()  # softmax, less 1 at the right class
                    slope.scatter_add_(1, target, slope.new_full(target.shape, -1.0))
                    of_states, of_weight, of_bias = gradients
                    of_bias += slope.sum(dim=0)
                    slope = slope.to(kind)
                    of_states[rows] = slope @ matrix
                    of_weight += slope.T @ inputs[rows]
        ctx.save_for_backward(*gradients)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        return (*(scale * each for each in ctx.saved_tensors), None)

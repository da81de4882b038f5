"""Cross entropy over all words of a vocabulary, a block of rows at a time.

The logits of a batch have an entry for every token and every word, far more than anything else
in a language model. Here they are never all there: while a block of them is at hand, both its
losses and its gradients are made, and the next block takes its place.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

# A block stays in the caches of a CPU; a GPU wants more work at once.
_ENTRIES = {"cpu": 2**20, "cuda": 2**26}


def word_loss(states: Tensor, weight: Tensor, bias: Tensor, classes: Tensor) -> Tensor:
    """Negative log likelihoods of `classes` (rows), added up, by a softmax over all words.

    Logits are `states weightᵀ + bias`. Under autocast they are multiplied in its precision and
    added up in that of the bias, as a linear layer and its cross entropy would be.
    """
    inputs = states, weight, bias
    if not torch.is_grad_enabled():  # of which the function below is not told
        inputs = states.detach(), weight.detach(), bias.detach()
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
                    slope = likelihoods.exp_()  # of each logit: its share, less 1 where it is right
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

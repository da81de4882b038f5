"""Losses over groups of scores, point-, pair- and list-wise, averaged over the batch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from matchwork.registry import Registry

Loss: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
"""`loss(scores, labels, mask)`, each of shape (groups, candidates); returns a scalar."""
F = TypeVar("F", bound=Callable[..., Tensor])


@dataclass(frozen=True)
class LossEntry:
    """A registered loss: see `register_loss`."""

    function: Callable[..., Tensor]
    needs_negatives: bool = False
    class_function: Loss | None = None


LOSSES: Registry[LossEntry] = Registry("loss")


def register_loss(
    name: str, *, needs_negatives: bool = False, class_function: Loss | None = None
) -> Callable[[F], F]:
    """Return a decorator that registers a loss; its keyword-only parameters are settings.

    Args:
        name: Its name in recipes.
        needs_negatives: Whether it compares a positive with negatives in the same group.
        class_function: The loss for more than two classes, which takes logits of shape
            (groups, candidates, classes) in place of scores; None: for two classes only.
    """

    def register(function: F) -> F:
        LOSSES.add(name, LossEntry(function, needs_negatives, class_function))
        return function

    return register


def class_cross_entropy(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise, over logits (groups, candidates, classes) and class labels; mean over pairs."""
    targets = labels.to(torch.int64).masked_fill(~mask, 0)
    terms = functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


@register_loss("cross-entropy", class_function=class_cross_entropy)
def cross_entropy(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise: each score is the logit of "relevant"; mean over pairs."""
    targets = (labels > 0).to(scores.dtype)
    terms = functional.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


@register_loss("squared")
def squared_error(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise: squared difference of score and label; mean over pairs."""
    terms = (scores - labels.to(scores.dtype)) ** 2
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


@register_loss("hinge", needs_negatives=True)
def hinge(scores: Tensor, labels: Tensor, mask: Tensor, *, margin: float = 1.0) -> Tensor:
    """Pair-wise: `max(0, margin + negative - positive)`, summed in a group, mean over groups."""
    positive, negative = (labels > 0) & mask, (labels <= 0) & mask
    terms = torch.relu(margin + scores.unsqueeze(-2) - scores.unsqueeze(-1))
    pairs = positive.unsqueeze(-1) & negative.unsqueeze(-2)
    return terms.masked_fill(~pairs, 0.0).sum() / max(1, len(scores))


@register_loss("softmax", needs_negatives=True)
def softmax(scores: Tensor, labels: Tensor, mask: Tensor, *, temperature: float = 1.0) -> Tensor:
    """List-wise: cross entropy of the softmax of scores / temperature with normalised grades."""
    targets = labels.to(scores.dtype).masked_fill(~mask, 0.0)
    totals = targets.sum(dim=-1, keepdim=True)
    logits = (scores / temperature).masked_fill(~mask, torch.finfo(scores.dtype).min)
    terms = -(targets / totals.clamp_min(1e-12) * functional.log_softmax(logits, dim=-1))
    return terms.masked_fill(~mask, 0.0).sum() / max(1, len(scores))

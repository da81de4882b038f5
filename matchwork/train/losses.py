"""Losses over groups of scores: point-wise, pair-wise and list-wise.

All take `scores`, `labels` and a bool `mask` of shape (groups, candidates) and give one
number, averaged so that the batch size does not change its scale.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from matchwork.errors import ConfigError
from matchwork.registry import Registry
from matchwork.train.config import TrainConfig

Loss: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]

LOSSES: Registry[Callable[[TrainConfig], Loss]] = Registry("loss")


def cross_entropy(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise: each score is the logit of "relevant"; mean over pairs."""
    targets = (labels > 0).to(scores.dtype)
    terms = functional.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


def class_cross_entropy(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise: `labels` are classes, `logits` (groups, candidates, classes); mean over pairs."""
    targets = labels.to(torch.int64).masked_fill(~mask, 0)
    terms = functional.cross_entropy(logits.movedim(-1, 1), targets, reduction="none")
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


def require_class_loss(config: TrainConfig, num_classes: int, where: str = "") -> None:
    """More than two classes are learnt from labels as they stand, by cross entropy."""
    for name, wanted in (("loss", "cross-entropy"), ("negatives", "labelled")):
        value = getattr(config, name)
        if num_classes > 2 and value != wanted:
            raise ConfigError(
                f"{where}{name} = {value!r} knows only relevant and not relevant; with "
                f"num_classes = {num_classes} use {name} = {wanted!r}"
            )


def squared_error(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Point-wise: each score should equal its grade; mean over pairs."""
    terms = (scores - labels.to(scores.dtype)) ** 2
    return terms.masked_fill(~mask, 0.0).sum() / mask.sum().clamp_min(1)


def hinge(scores: Tensor, labels: Tensor, mask: Tensor, margin: float = 1.0) -> Tensor:
    """Pair-wise: `max(0, margin + negative - positive)`, summed in a group, mean over groups.

    Zero exactly when every negative lies at least `margin` below its positive.
    """
    positive, negative = (labels > 0) & mask, (labels <= 0) & mask
    terms = torch.relu(margin + scores.unsqueeze(-2) - scores.unsqueeze(-1))
    pairs = positive.unsqueeze(-1) & negative.unsqueeze(-2)
    return terms.masked_fill(~pairs, 0.0).sum() / max(1, len(scores))


def softmax(scores: Tensor, labels: Tensor, mask: Tensor, temperature: float = 1.0) -> Tensor:
    """List-wise: cross entropy of the softmax over a group with its (normalised) grades.

    The lower the temperature, the smaller a difference of scores may be to count as one.
    """
    targets = labels.to(scores.dtype).masked_fill(~mask, 0.0)
    totals = targets.sum(dim=-1, keepdim=True)
    logits = (scores / temperature).masked_fill(~mask, torch.finfo(scores.dtype).min)
    terms = -(targets / totals.clamp_min(1e-12) * functional.log_softmax(logits, dim=-1))
    return terms.masked_fill(~mask, 0.0).sum() / max(1, len(scores))


LOSSES.add("cross-entropy", lambda config: cross_entropy)
LOSSES.add("squared", lambda config: squared_error)
LOSSES.add("hinge", lambda config: partial(hinge, margin=config.margin))
LOSSES.add("softmax", lambda config: partial(softmax, temperature=config.temperature))

"""What the scores of a cross-encoder go through, where nobody says."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from matchwork.errors import DataError
from matchwork.models import CrossEncoder
from matchwork.rank import Matcher

Activation: TypeAlias = Callable[[Tensor], Tensor]


def default_activation(matcher: Matcher) -> Activation:
    """The calibration of a matcher, or what those who made the model wrote down, or a sigmoid.

    Scores of models that are no cross-encoders stay as they are.
    """
    calibration = matcher.calibration
    if calibration is not None:
        return lambda scores: torch.as_tensor(calibration.probability(scores.cpu())).to(scores)
    if not isinstance(matcher.model, CrossEncoder):
        return nn.Identity()
    if matcher.score_activation is None:
        return nn.Sigmoid()
    start, _, name = matcher.score_activation.rpartition(".")
    kind = getattr(nn, name, None) if start.startswith("torch.nn") else None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise DataError(
            f"{matcher.name}: the activation {matcher.score_activation!r} is not one of torch.nn, "
            "and foreign code is never run; give activation_fn"
        )
    activation: Activation = kind()
    return activation

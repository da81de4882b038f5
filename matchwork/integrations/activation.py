"""What the scores of a cross-encoder go through, where nobody says."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn

from matchwork.errors import DataError
from matchwork.matcher import Matcher
from matchwork.models import CrossEncoder
from matchwork.rank.calibration import AnyCalibration

Activation: TypeAlias = Callable[[Tensor], Tensor]


def default_activation(matcher: Matcher) -> Activation:
    """The calibration of a matcher, or what its folder names, or a sigmoid.

    Scores of models that are no cross-encoders stay as they are, unless their folder says more.
    """
    if matcher.calibration is not None:
        return partial(_calibrated, matcher.calibration)
    if matcher.score_activation is None:
        return nn.Sigmoid() if isinstance(matcher.model, CrossEncoder) else nn.Identity()
    activation = _of_torch(matcher.score_activation)
    if activation is None:
        raise DataError(
            f"{matcher.name}: the activation {matcher.score_activation!r} is not one of torch.nn "
            "without settings, and foreign code is never run; give activation_fn"
        )
    return activation


def path_of(activation: Activation) -> str | None:
    """By which a folder can name it; None: it is code, or has settings."""
    path = f"{type(activation).__module__}.{type(activation).__qualname__}"
    return path if type(_of_torch(path)) is type(activation) else None


def _of_torch(path: str) -> Activation | None:
    start, _, name = path.rpartition(".")
    kind = getattr(nn, name, None) if start.startswith("torch.nn") else None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        return None
    try:
        made: Activation = kind()
    except TypeError:  # it needs settings
        return None
    return made


def _calibrated(calibration: AnyCalibration, scores: Tensor) -> Tensor:
    return torch.as_tensor(calibration.probability(scores.cpu())).to(scores)

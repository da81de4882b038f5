"""The default activation of a cross-encoder's scores."""

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
    """Return the activation of a matcher's scores.

    The matcher's calibration comes first, then the activation that its folder names, then a
    sigmoid for cross-encoders and the identity for other models.
    """
    if matcher.calibration is not None:
        return partial(_calibrated, matcher.calibration)
    if matcher.score_activation is None:
        return nn.Sigmoid() if isinstance(matcher.model, CrossEncoder) else nn.Identity()
    activation = _torch_activation(matcher.score_activation)
    if activation is None:
        raise DataError(
            f"{matcher.name}: the activation {matcher.score_activation!r} is not one of torch.nn "
            "without settings, and foreign code is never run; give activation_fn"
        )
    return activation


def activation_path(activation: Activation) -> str | None:
    """Return the dotted path of an activation of `torch.nn` without settings; None for others."""
    path = f"{type(activation).__module__}.{type(activation).__qualname__}"
    return path if type(_torch_activation(path)) is type(activation) else None


def _torch_activation(path: str) -> Activation | None:
    module, _, name = path.rpartition(".")
    kind = getattr(nn, name, None) if module.startswith("torch.nn") else None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        return None
    try:
        activation: Activation = kind()
    except TypeError:  # it needs settings
        return None
    return activation


def _calibrated(calibration: AnyCalibration, scores: Tensor) -> Tensor:
    return torch.as_tensor(calibration.probability(scores.cpu())).to(scores)

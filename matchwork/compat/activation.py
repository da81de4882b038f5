"""What the scores of a cross-encoder go through, where nobody says."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor, nn

from matchwork.encode.pretrained import model_folder, optional_settings
from matchwork.errors import DataError
from matchwork.models import CrossEncoder
from matchwork.rank import Matcher

Activation: TypeAlias = Callable[[Tensor], Tensor]


def default_activation(matcher: Matcher, name: str | Path | Matcher) -> Activation:
    """What the model's own folder says, or the calibration of a matcher, or a sigmoid.

    Scores of models that are no cross-encoders stay as they are. `name` is what it was opened by.
    """
    calibration = matcher.calibration
    if calibration is not None:
        return lambda scores: torch.as_tensor(calibration.probability(scores.cpu())).to(scores)
    if not isinstance(matcher.model, CrossEncoder):
        return nn.Identity()
    found = None if isinstance(name, Matcher) else _written_activation(model_folder(name))
    return found or nn.Sigmoid()


def _written_activation(folder: Path) -> Activation | None:
    """What the folder of a cross-encoder names, in any of the places where versions wrote it."""
    config = optional_settings(folder / "config.json")
    path = (
        optional_settings(folder / "config_sentence_transformers.json").get("activation_fn")
        or (config.get("sentence_transformers") or {}).get("activation_fn")
        or config.get("sbert_ce_default_activation_function")
    )
    if path is None:
        return None
    start, _, name = str(path).rpartition(".")
    kind = getattr(nn, name, None) if start.startswith("torch.nn") else None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise DataError(
            f"the activation {path!r} is not one of torch.nn, and foreign code is never run; give "
            "activation_fn",
            path=folder,
        )
    activation: Activation = kind()
    return activation

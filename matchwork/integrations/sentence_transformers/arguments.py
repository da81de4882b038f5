"""Arguments of the library's `CrossEncoder`, those of earlier versions included."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from matchwork.encode.model_folder import model_folder
from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.matcher.foreign_models import COSINE, MAXSIM
from matchwork.matcher.precision import Precision

POSITIONAL = ("num_labels", "max_length", "activation_fn", "device")
RENAMED = {
    "model_name": "model_name_or_path",
    "default_activation_function": "activation_fn",
    "cache_dir": "cache_folder",
}
RENAMED_IN_PREDICT = {"sentences": "inputs", "activation_fct": "activation_fn"}
_ARGUMENTS = ("automodel_args", "tokenizer_args", "tokenizer_kwargs", "config_args")
REMOVED = (*_ARGUMENTS, "classifier_dropout")


def open_model(
    model: str | Path | Matcher | None,
    hub: Mapping[str, Any],
    device: str | None,
    precision: Precision,
) -> Matcher:
    """Open a model, with download options for the hub, or move a given matcher to the device."""
    if model is None:
        raise ConfigError("CrossEncoder needs the name or folder of a model, or a Matcher")
    if not isinstance(model, Matcher):
        options = {name: value for name, value in hub.items() if value is not None}
        name = _fetch(str(model), options) if options else model
        return Matcher.load(name, device=device, precision=precision)
    if precision != "32":
        raise ConfigError("a Matcher has its own precision: matcher.to(precision=…)")
    return model.to(device)


def rename(older: dict[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Remove arguments by their earlier names, and return them by their present ones."""
    values = {new: older.pop(old, None) for old, new in renamed.items()}
    return {name: value for name, value in values.items() if value is not None}


def with_effect(model_kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Drop settings that change no score here: the attention implementation, and 32 bits."""
    settings = dict(model_kwargs or {})
    settings.pop("attn_implementation", None)
    for name in ("dtype", "torch_dtype"):
        if settings.get(name) in ("float32", torch.float32):
            del settings[name]
    return settings


def refuse(**options: object) -> None:
    """Raise a `ConfigError` for the first option that is set."""
    for name, value in options.items():
        if value:
            raise ConfigError(f"{name} = {value!r} is not supported; leave it out")


def _fetch(name: str, options: dict[str, Any]) -> str:
    """Download a model; return its folder, with the suffix of the name, such as "-maxsim"."""
    suffix = next((each for each in (MAXSIM, COSINE) if name.endswith(each)), "")
    base = name if Path(name).is_dir() else name.removesuffix(suffix)
    return f"{model_folder(base, **options)}{suffix if base != name else ''}"

"""Errors about a transformer's folder that say what is wrong with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matchwork.errors import DataError
from matchwork.files import read_json


def cannot_open(what: str, folder: Path, error: Exception) -> DataError:
    """Say what an error of the transformers library means (the bare key of a dictionary, ...)."""
    return DataError(f"cannot open {what}: {_reason(error, folder / 'config.json')}", path=folder)


def require_fit(report: Mapping[str, Any], folder: Path, *, without_pooler: bool) -> None:
    """Refuse weights that the library's loading report says do not fit `config.json`."""
    if unfit := sorted(report["mismatched_keys"]):
        name, *shapes = unfit[0]
        actual, expected = (" x ".join(map(str, shape)) for shape in shapes)
        raise DataError(
            f"the weights do not fit config.json: {name} is {actual}, config.json asks for "
            f"{expected} ({len(unfit)} misfit); take both from the same model",
            path=folder,
        )
    names = sorted(report["missing_keys"])
    if missing := [name for name in names if not (without_pooler and "pooler" in name)]:
        raise DataError(
            f"the weights are incomplete: no {missing[0]} ({len(missing)} missing)", path=folder
        )


def _reason(error: Exception, config: Path) -> str:
    if "trust_remote_code" in str(error):
        return (
            f"it needs remote code (model_type = {read_json(config).get('model_type')!r}), which "
            "is never run; only architectures and tokenizers of the transformers library can be "
            "read"
        )
    if isinstance(error, KeyError) and error.args:
        text = _unknown(error.args[0], config)
    elif type(error).__name__.startswith("StrictDataclass"):
        text = f"config.json: {error.__cause__ or error}"
    else:
        text = " ".join(str(error).strip().partition("\n\n")[0].split())
    return f"{text.rstrip('.') or type(error).__name__}; download its files again"


def _unknown(key: object, config: Path) -> str:
    """Explain a `KeyError`: the key is mostly a value in `config.json`."""
    for name, value in read_json(config).items():
        if value == key:
            return f"config.json: {name} = {key!r} is not known to the transformers library"
    return f"{key!r} is missing in its settings, or not known to the transformers library"

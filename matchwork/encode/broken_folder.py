"""Errors about a transformer's folder that say what is wrong with it.

The transformers library raises errors of half a dozen kinds: the bare key of a dictionary, advice
to set options that are not ours, and so on.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matchwork.errors import DataError
from matchwork.files import read_json


def cannot_open(what: str, folder: Path, error: Exception) -> DataError:
    """Translate an error of the transformers library.

    Args:
        what: What was to be opened ("the tokenizer").
        folder: The transformer's folder.
        error: The library's error.
    """
    return DataError(f"cannot open {what}: {_reason(error, folder / 'config.json')}", path=folder)


def require_fit(report: Mapping[str, Any], folder: Path, *, without_pooler: bool) -> None:
    """Refuse weights that do not fit `config.json`.

    Args:
        report: The library's loading report, with `mismatched_keys` and `missing_keys`.
        folder: The transformer's folder.
        without_pooler: Accept missing weights of the pooler.
    """
    unfit = sorted(report["mismatched_keys"])
    if unfit:
        name, actual, expected = unfit[0]
        raise DataError(
            f"the weights do not fit config.json: {name} is {_shape(actual)}, config.json asks for "
            f"{_shape(expected)} ({len(unfit)} misfit); take both from the same model",
            path=folder,
        )
    missing = sorted(
        key for key in report["missing_keys"] if not (without_pooler and "pooler" in key)
    )
    if missing:
        raise DataError(
            f"the weights are incomplete: no {missing[0]} ({len(missing)} missing)", path=folder
        )


def _reason(error: Exception, config: Path) -> str:
    if "trust_remote_code" in str(error):
        return (
            f"it needs remote code ({_model_type(config)}), which is never run; only "
            "architectures and tokenizers of the transformers library can be read"
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


def _model_type(config: Path) -> str:
    return f"model_type = {read_json(config).get('model_type')!r}"


def _shape(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))

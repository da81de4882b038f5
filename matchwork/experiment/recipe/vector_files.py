"""Find files of word vectors and of word links, and folders of transformers."""

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
    """Find a file of word vectors.

    Args:
        name: A path, or a name under `MATCHWORK_VECTORS`, the data root or the folder `pretrained`
            beside it.
        data_root: Folder that holds the catalogued data sets.
    """
    return _find(name, data_root, "word-vector file", "vectors.file")


def find_links(name: str, data_root: str | Path | None = None) -> Path:
    """Find a file of word links, as `find_vectors` does."""
    return _find(name, data_root, "file of word links", "links.file")


def find_transformer(name: str, data_root: str | Path | None = None) -> str:
    """Find a transformer's folder as `find_vectors` does, or else return the name of a model."""
    import_transformers()  # without it the folder is of no use
    for folder in _folders(data_root):
        if (folder / name).is_dir():
            return str(folder / name)
    if not _HUB_NAME.fullmatch(name):
        raise DataError(
            f"no folder {name!r} of a transformer; set {VECTORS_VARIABLE} to the folder it is in, "
            "give its path with --set vectors.file=PATH, or name a model of the hub"
        )
    packaged_folder(name)  # says what to install
    return name


def _find(name: str, data_root: str | Path | None, kind: str, setting: str) -> Path:
    for folder in _folders(data_root):
        if (folder / name).is_file():
            return folder / name
    raise DataError(
        f"no {kind} {name!r}; set {VECTORS_VARIABLE} to its folder, or give its path "
        f"with --set {setting}=PATH"
    )


def _folders(data_root: str | Path | None) -> list[Path]:
    folders = [Path()]
    if folder := os.environ.get(VECTORS_VARIABLE):
        folders.append(Path(folder))
    if root := data_root or os.environ.get(DATA_ROOT_VARIABLE):
        folders += [Path(root), Path(root).resolve().parent / "pretrained"]
    return folders

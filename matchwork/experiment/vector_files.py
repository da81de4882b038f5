"""Where word-vector files are looked for."""

import os
from pathlib import Path

from matchwork.data.catalogue import ROOT_VARIABLE
from matchwork.errors import DataError

VECTORS_VARIABLE = "MATCHWORK_VECTORS"


def find_vectors(name: str, data_root: str | Path | None = None) -> Path:
    """A path as given, or a name under `MATCHWORK_VECTORS`, the data root or its neighbour.

    The neighbour is a folder `pretrained` beside the data root.
    """
    places = [Path()]
    if folder := os.environ.get(VECTORS_VARIABLE):
        places.append(Path(folder))
    if root := data_root or os.environ.get(ROOT_VARIABLE):
        places += [Path(root), Path(root).resolve().parent / "pretrained"]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise DataError(
        f"no word-vector file {name!r}; set {VECTORS_VARIABLE} to its folder, or give its path "
        "with --set vectors.file=PATH"
    )

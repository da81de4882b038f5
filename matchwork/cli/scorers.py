"""Opening what a command calls MATCHER: a folder, a name, or `bm25` fitted on the spot."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from matchwork.cli import show
from matchwork.errors import DataError

if TYPE_CHECKING:
    from matchwork.matcher import Matcher
    from matchwork.matcher.precision import Precision
    from matchwork.rank import BM25

BM25_NAME = "bm25"


def is_bm25(name: str) -> bool:
    """Whether the word stands for BM25 and not for a folder."""
    return name.lower() == BM25_NAME


def open_matcher(name: str, precision: "Precision" = "32") -> "Matcher":
    """A saved matcher, or one that needs no training; on the GPU where it gains from one."""
    with show.working(f"opening {name}"):
        import torch

        from matchwork.matcher import Matcher

        opened = Matcher.load(name) if _is_own(name) else Matcher.pretrained(name)
        if torch.cuda.is_available() and precision != "int8":
            opened.to("cuda")
        return opened.to(precision=precision)


def _is_own(name: str) -> bool:
    """Whether it stands for a folder of ours, be it damaged or missing, and for no other model.

    A path with a slip in it is not looked for on the hub.
    """
    from matchwork.encode.model_folder import PACKAGED
    from matchwork.files import read_json
    from matchwork.matcher.pretrained import COSINE, MAXSIM

    folder = Path(name)
    if not folder.is_dir():
        on_hub = "/" in name and not folder.parent.is_dir()
        return not (on_hub or name in PACKAGED or name.endswith((MAXSIM, COSINE)))
    try:
        settings = read_json(folder / "config.json")
    except DataError:
        settings = {}
    return not ((folder / "modules.json").is_file() or "model_type" in settings)


def fit_bm25(documents: Iterable[str]) -> "BM25":
    """BM25 over distinct texts: one listed under many queries is still one document."""
    with show.working("indexing with BM25"):
        from matchwork.rank import BM25

        return BM25.fit(list(dict.fromkeys(documents)))

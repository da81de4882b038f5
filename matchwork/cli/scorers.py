"""Opening what a command calls MATCHER: a saved folder, or `bm25` fitted on the spot."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from matchwork.cli import show

if TYPE_CHECKING:
    from matchwork.rank import BM25, Matcher

BM25_NAME = "bm25"


def is_bm25(name: str) -> bool:
    """Whether the word stands for BM25 and not for a folder."""
    return name.lower() == BM25_NAME


def open_matcher(folder: str) -> "Matcher":
    """A saved matcher, on the GPU where there is one."""
    with show.working(f"opening {folder}"):
        import torch

        from matchwork.rank import Matcher

        matcher = Matcher.load(folder)
        return matcher.to("cuda") if torch.cuda.is_available() else matcher


def fit_bm25(documents: Iterable[str]) -> "BM25":
    """BM25 over distinct texts: one listed under many queries is still one document."""
    with show.working("indexing with BM25"):
        from matchwork.rank import BM25

        return BM25.fit(list(dict.fromkeys(documents)))

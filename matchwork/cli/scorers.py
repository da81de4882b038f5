"""Opening what a command calls MATCHER."""

from typing import TYPE_CHECKING

from matchwork.cli import show

if TYPE_CHECKING:
    from matchwork.matcher import Matcher
    from matchwork.matcher.precision import Precision
    from matchwork.types import Scorer


def open_scorer(name: str, precision: "Precision" = "32") -> "Scorer":
    """Open whatever `matchwork.load` opens, or BM25 fitted on the spot under the name "bm25"."""
    from matchwork.rank.candidate_bm25 import CandidateBM25, is_bm25

    if is_bm25(name):
        return CandidateBM25()
    with show.working(f"opening {name}"):
        from matchwork.matcher import load

        return load(name, precision=precision)


def open_matcher(name: str, precision: "Precision" = "32") -> "Matcher":
    """Open a matcher; BM25 is refused."""
    with show.working(f"opening {name}"):
        from matchwork.matcher import Matcher

        return Matcher.load(name, precision=precision)

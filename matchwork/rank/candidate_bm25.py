"""BM25 without an index: fitted anew on the documents of each call ("bm25" on the command line)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from matchwork.rank.bm25 import BM25
from matchwork.rank.ranking import require_pairs, rerank
from matchwork.types import Document, Ranked, Scores, TextPair

BM25_NAME = "bm25"


def is_bm25(name: str) -> bool:
    """Return whether a command's MATCHER stands for BM25 and not for a folder."""
    return name.lower() == BM25_NAME and not Path(name).is_dir()


class CandidateBM25:
    """BM25 whose word statistics come from the documents that are scored together."""

    name = "BM25"

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Score pairs of texts, with the idf and mean length of the distinct documents among them.

        Returns:
            Scores, shape (pairs,).
        """
        pairs = list(pairs)
        require_pairs(pairs)
        if not pairs:
            return np.zeros(0)
        return BM25.fit(list(dict.fromkeys(document for _, document in pairs))).score(pairs)

    def rerank(
        self,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        """Return the given documents from best to worst; see `matchwork.rank.rerank`."""
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)

"""BM25 without an index: fitted anew on the documents of each call, under the name "bm25"."""

from collections.abc import Iterable

import numpy as np

from matchwork.inputs import require_pairs
from matchwork.rank.bm25 import BM25
from matchwork.rank.ranking import Reranker
from matchwork.types import Scores, TextPair


class CandidateBM25(Reranker):
    """BM25 whose word statistics come from the documents that are scored together."""

    name = "BM25"
    never_negative = True

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Score pairs of texts, shape (pairs,), by the statistics of the documents among them."""
        pairs = list(pairs)
        require_pairs(pairs)
        if not pairs:
            return np.zeros(0)
        return BM25.fit(list(dict.fromkeys(document for _, document in pairs))).score(pairs)

"""BM25 for a service that holds no documents: fitted on the candidates of every request."""

from collections.abc import Iterable, Sequence

from matchwork.rank import BM25, rank
from matchwork.types import Document, Ranked, Scores, TextPair


class CandidateBM25:
    """Word statistics come from the documents that are scored together."""

    name = "BM25"

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """BM25 of every pair, with the idf of these documents."""
        pairs = list(pairs)
        return BM25.fit(list(dict.fromkeys(document for _, document in pairs))).score(pairs)

    def rank(
        self, query: str, documents: Sequence[str | Document], top_k: int | None = None
    ) -> list[Ranked]:
        """The documents from best to worst."""
        return rank(self, query, documents, top_k)

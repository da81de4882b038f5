"""Opening a scorer and reranking with it, for all framework adapters."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from matchwork.errors import ConfigError
from matchwork.explain import Explanation, explain
from matchwork.matcher import Matcher, load
from matchwork.rank.ranking import ranking, relevance
from matchwork.types import Ranked, Scorer, Scores, TextPair

AnyScorer: TypeAlias = str | Path | Scorer
"""Whatever `matchwork.load` opens, or an open scorer."""


class Reranker:
    """A scorer for callers in several threads, who take turns."""

    def __init__(self, model: AnyScorer) -> None:
        self.scorer = load(model) if isinstance(model, str | Path) else model
        self._lock = Lock()

    def relevance(self, pairs: Sequence[TextPair]) -> Scores:
        """Return the relevance of each pair, 0 to 1; see `matchwork.rank.ranking.relevance`."""
        return relevance(self.scorer, self._score(pairs))

    def rerank(
        self, query: str, texts: Sequence[str], top_k: int | None, threshold: float
    ) -> list[Ranked]:
        """Return the texts from best to worst, with their relevance as probability."""
        scores = self._score([(query, text) for text in texts])
        probabilities = relevance(self.scorer, scores)
        return ranking(texts, scores, probabilities, top_k=top_k, threshold=threshold)

    def explain(self, query: str, text: str) -> Explanation:
        """Explain the score of a text; only matchers can."""
        if not isinstance(self.scorer, Matcher):
            raise ConfigError(f"{self.scorer.name} gives no explanations; use a matcher")
        with self._lock:
            return explain(self.scorer, query, text)

    def _score(self, pairs: Sequence[TextPair]) -> Scores:
        with self._lock:
            return self.scorer.score(pairs)

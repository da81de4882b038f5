"""What every framework asks of a matcher: the best of some texts, and how relevant each is."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from pydantic import InstanceOf

from matchwork.explain import Explanation, explain
from matchwork.matcher import Matcher
from matchwork.rank.ranking import ranking
from matchwork.rank.relevance import relevance
from matchwork.types import Ranked, Scores, TextPair

AnyMatcher: TypeAlias = str | Path | InstanceOf[Matcher]  # pydantic must not look inside
"""The folder of a saved matcher, a name that `matchwork.load` opens, or a matcher."""


def open_matcher(model: AnyMatcher, device: str | None = None) -> Matcher:
    """The matcher; one that is opened here goes to the GPU where there is one."""
    if not isinstance(model, Matcher):
        return Matcher.load(model, device=device)
    return model.to(device) if device else model


class Reranker:
    """A matcher for callers in several threads, who wait for each other."""

    def __init__(self, model: AnyMatcher) -> None:
        self.matcher = open_matcher(model)
        self._lock = Lock()

    def relevance(self, pairs: Sequence[TextPair]) -> Scores:
        """Between 0 and 1, calibrated if the matcher is; see `matchwork.rank.relevance`."""
        return relevance(self._score(pairs), self.matcher.calibration)

    def rerank(
        self, query: str, texts: Sequence[str], top_k: int | None = None, threshold: float = 0.0
    ) -> list[Ranked]:
        """Return the texts from best to worst, without those less relevant than `threshold`.

        `Ranked.probability` holds the relevance.
        """
        scores = self._score([(query, text) for text in texts])
        likely = relevance(scores, self.matcher.calibration)
        return ranking(texts, scores, likely, top_k=top_k, threshold=threshold)

    def explain(self, query: str, text: str) -> Explanation:
        """Why a text is relevant."""
        with self._lock:
            return explain(self.matcher, query, text)

    def _score(self, pairs: Sequence[TextPair]) -> Scores:
        with self._lock:
            return self.matcher.score(pairs)

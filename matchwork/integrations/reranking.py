"""What every framework asks of a matcher: the best of some texts, and how relevant each is."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

import torch

from matchwork.errors import ConfigError
from matchwork.explain import Explanation, explain
from matchwork.matcher import Matcher
from matchwork.ordering import order
from matchwork.rank.relevance import relevance
from matchwork.types import Scores, TextPair

AnyMatcher: TypeAlias = str | Path | Matcher
"""The folder of a saved matcher, a name that `Matcher.pretrained` knows, or a matcher."""


class Hit(NamedTuple):
    """A text by its place in the list that was given, from 0."""

    place: int
    relevance: float


def open_matcher(model: AnyMatcher, device: str | None = None) -> Matcher:
    """The matcher; one that is opened here goes to the GPU where there is one."""
    opened = isinstance(model, Matcher)
    matcher = model if isinstance(model, Matcher) else Matcher.pretrained(model)
    if device or (not opened and torch.cuda.is_available()):
        matcher.to(device or "cuda")
    return matcher


def check_limits(top_n: int | None, threshold: float) -> None:
    """Refuse limits that could never be meant."""
    if top_n is not None and top_n < 1:
        raise ConfigError(f"the number of texts to keep must be at least 1, got {top_n}")
    if not 0 <= threshold <= 1:
        raise ConfigError(f"the threshold must lie between 0 and 1, got {threshold}")


class Reranker:
    """A matcher for callers in several threads, who wait for each other."""

    def __init__(self, model: AnyMatcher) -> None:
        self.matcher = open_matcher(model)
        self._lock = Lock()

    def relevance(self, pairs: Sequence[TextPair]) -> Scores:
        """Between 0 and 1, calibrated if the matcher is; see `matchwork.rank.relevance`."""
        return relevance(self._score(pairs), self.matcher.calibration)

    def rerank(
        self, query: str, texts: Sequence[str], top_n: int | None = None, threshold: float = 0.0
    ) -> list[Hit]:
        """The texts from best to worst, without those less relevant than `threshold`."""
        scores = self._score([(query, text) for text in texts])
        found = relevance(scores, self.matcher.calibration)
        # By score: a calibration may hold for equal what the matcher still tells apart.
        hits = [Hit(place, float(found[place])) for place in order(scores).tolist()]
        return [hit for hit in hits if hit.relevance >= threshold][:top_n]

    def explain(self, query: str, text: str) -> Explanation:
        """Why a text is relevant."""
        with self._lock:
            return explain(self.matcher, query, text)

    def _score(self, pairs: Sequence[TextPair]) -> Scores:
        with self._lock:
            return self.matcher.score(pairs)

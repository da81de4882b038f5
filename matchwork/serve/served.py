"""A scorer as the service uses it: many requests in one call, probabilities, cut texts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError
from matchwork.explain import Explanation, explain
from matchwork.matcher import Matcher
from matchwork.matcher.truncation import Truncation
from matchwork.rank import BM25
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.rank.relevance import relevance
from matchwork.serve.failures import Failure, Kind
from matchwork.types import Scorer, Scores, TextPair

Requests: TypeAlias = Sequence[Sequence[TextPair]]
StillWanted: TypeAlias = Callable[[], bool]

MAX_CELLS = 250_000
"""Word pairs that an explanation may have: its tables are sent as JSON."""
_WORD = re.compile(r"\w+")
_Number = TypeVar("_Number", bound=np.generic)


class Abandoned(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Scored:
    """The answer to one request; tokens of its texts that were read, and how many were not."""

    scores: Scores
    num_tokens: int
    cut: Truncation


class Served:
    """A scorer under the name that clients use; called from one thread only."""

    def __init__(self, name: str, scorer: Scorer) -> None:
        self.name = name
        self.scorer = scorer
        self.matcher = scorer if isinstance(scorer, Matcher) else None

    def score(self, requests: Requests, wanted: StillWanted) -> list[Scored]:
        """Every request's scores; those of a matcher are computed together."""
        if self.matcher is not None:
            return self._match(self.matcher, requests, wanted)
        if isinstance(self.scorer, CandidateBM25):  # whose scores depend on what comes together
            found = [self.scorer.score(pairs) for pairs in requests]
        else:
            found = _split(self.scorer.score(_joined(requests)), requests)
        return [
            Scored(_finite(scores), _num_words(pairs), Truncation())
            for scores, pairs in zip(found, requests, strict=True)
        ]

    def require_explainer(self) -> Matcher:
        """The matcher that gives explanations; scorers of other kinds are refused."""
        if self.matcher is None:
            raise Failure(Kind.INVALID, f"model {self.name!r} gives no explanations")
        return self.matcher

    def explain(self, requests: Requests, wanted: StillWanted) -> list[list[Explanation]]:
        """An explanation of every pair."""
        matcher, found = self.require_explainer(), []
        for pairs in requests:
            made = []
            for query, document in pairs:
                if not wanted():
                    raise Abandoned
                self._check_size(matcher, query, document)
                made.append(explain(matcher, query, document))
            found.append(made)
        return found

    def probability(self, scores: Scores) -> Scores:
        """Scores between 0 and 1, in the same order; see `matchwork.rank.relevance`."""
        calibration = self.matcher.calibration if self.matcher else None
        counts_words = isinstance(self.scorer, BM25 | CandidateBM25)
        return relevance(scores, calibration, never_negative=counts_words)

    def shorten(self, texts: Sequence[str], num_tokens: int) -> list[str]:
        """Each text up to the end of its first tokens."""
        return [text[: max(self._ends(text)[:num_tokens], default=0)] for text in texts]

    def _ends(self, text: str) -> list[int]:
        if self.matcher is None:
            return [word.end() for word in _WORD.finditer(text)]
        return [token.end for token in self.matcher.tokenizer.tokens(text)]

    def about(self) -> dict[str, Any]:
        """What clients may know of it."""
        matcher = self.matcher
        return {
            "name": self.name,
            "scorer": self.scorer.name,
            "calibrated": matcher is not None and matcher.calibration is not None,
            "explains": matcher is not None,
            "max_query_tokens": matcher and matcher.max_query_length,
            "max_document_tokens": matcher and matcher.max_document_length,
        }

    def _match(self, matcher: Matcher, requests: Requests, wanted: StillWanted) -> list[Scored]:
        def stop_if_abandoned(_: int) -> None:
            if not wanted():
                raise Abandoned

        rows = matcher.reader.read(_joined(requests))
        scores = _finite(matcher.score_tokens(rows, stop_if_abandoned))
        return [
            Scored(scores[part], rows.take(part).num_tokens, rows.take(part).truncation)
            for part in _split(np.arange(len(rows)), requests)
        ]

    def _check_size(self, matcher: Matcher, query: str, document: str) -> None:
        rows, columns = map(len, matcher.tokens(query, document))
        if rows * columns > MAX_CELLS:
            raise Failure(
                Kind.TOO_LONG,
                f"{rows} by {columns} words are too many to explain; at most {MAX_CELLS} pairs",
            )


def _joined(requests: Requests) -> list[TextPair]:
    return [pair for pairs in requests for pair in pairs]


def _split(values: npt.NDArray[_Number], requests: Requests) -> list[npt.NDArray[_Number]]:
    return np.split(values, np.cumsum([len(pairs) for pairs in requests])[:-1])


def _num_words(pairs: Sequence[TextPair]) -> int:
    queries, documents = {query for query, _ in pairs}, (document for _, document in pairs)
    return sum(len(_WORD.findall(text)) for text in (*queries, *documents))


def _finite(scores: Scores) -> Scores:
    if not np.isfinite(scores).all():
        raise DataError("the matcher gave scores that are not finite; its weights are damaged")
    return scores

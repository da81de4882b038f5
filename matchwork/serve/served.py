"""A model of the service: scores and explains several requests in one call."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError
from matchwork.explain import Explanation, explain
from matchwork.inputs import Truncation
from matchwork.matcher import Matcher
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.serve.batching import Requests
from matchwork.serve.failures import Failure, Kind
from matchwork.types import Scorer, Scores, TextPair

MAX_CELLS = 250_000
"""Word pairs of an explanation, whose tables are sent as JSON."""
_WORD = re.compile(r"\w+")
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True)
class Scored:
    """The scores of one request, the number of tokens read, and what was cut off."""

    scores: Scores
    num_tokens: int
    truncation: Truncation


class Served:
    """A scorer under the name that clients use; not thread-safe."""

    def __init__(self, name: str, scorer: Scorer) -> None:
        self.name = name
        self.scorer = scorer
        self.matcher = scorer if isinstance(scorer, Matcher) else None

    def score(self, requests: Requests, cancelled: Event) -> list[Scored]:
        """Score several requests together; a matcher stops after a batch when cancelled."""
        if self.matcher is not None:
            return self._score_by_matcher(self.matcher, requests, cancelled)
        if isinstance(self.scorer, CandidateBM25):  # its scores depend on the other documents
            scores = [self.scorer.score(pairs) for pairs in requests]
        else:
            scores = _split(self.scorer.score(_joined(requests)), requests)
        return [
            Scored(_finite(values), _num_words(pairs), Truncation())
            for values, pairs in zip(scores, requests, strict=True)
        ]

    def require_explainer(self) -> Matcher:
        """Return the matcher, which alone gives explanations; refuse other scorers."""
        if self.matcher is None:
            raise Failure(Kind.INVALID, f"model {self.name!r} gives no explanations")
        return self.matcher

    def explain(self, requests: Requests, cancelled: Event) -> list[list[Explanation]]:
        """Explain every pair; stop after the current one when cancelled."""
        matcher = self.require_explainer()
        explanations: list[list[Explanation]] = []
        for pairs in requests:
            explanations.append([])
            for query, document in pairs:
                if cancelled.is_set():
                    return explanations
                _check_size(matcher, query, document)
                explanations[-1].append(explain(matcher, query, document))
        return explanations

    def shorten(self, texts: Sequence[str], num_tokens: int) -> list[str]:
        """Cut each text after its first `num_tokens` tokens."""
        return [text[: max(self._token_ends(text)[:num_tokens], default=0)] for text in texts]

    def _token_ends(self, text: str) -> list[int]:
        if self.matcher is None:
            return [word.end() for word in _WORD.finditer(text)]
        return [token.end for token in self.matcher.tokenizer.tokens(text)]

    def describe(self) -> dict[str, Any]:
        """Return the model's entry in `GET /models`."""
        matcher = self.matcher
        return {
            "name": self.name,
            "scorer": self.scorer.name,
            "calibrated": matcher is not None and matcher.calibration is not None,
            "explains": matcher is not None,
            "max_query_tokens": matcher and matcher.max_query_length,
            "max_document_tokens": matcher and matcher.max_document_length,
        }

    def _score_by_matcher(
        self, matcher: Matcher, requests: Requests, cancelled: Event
    ) -> list[Scored]:
        rows = matcher.reader.read(_joined(requests))
        scores = matcher.score_tokens(rows, cancelled=cancelled)
        if cancelled.is_set():
            return []
        parts = [(rows.take(part), scores[part]) for part in _split(np.arange(len(rows)), requests)]
        return [
            Scored(_finite(values), pairs.num_tokens, pairs.truncation) for pairs, values in parts
        ]


def _check_size(matcher: Matcher, query: str, document: str) -> None:
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

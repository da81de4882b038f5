"""Reranking: documents and their scores, ordered from best to worst."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from matchwork.errors import ConfigError
from matchwork.inputs import as_documents
from matchwork.ordering import order
from matchwork.types import Document, Ranked, Scorer, Scores


class Reranker:
    """Base of our scorers: adds `rerank` to a class with a `name` and a `score` method.

    Attributes:
        never_negative: Whether 0 is the lowest score, as in BM25; `relevance` depends on it.
    """

    never_negative: ClassVar[bool] = False

    def rerank(
        self: Scorer,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        """Return the given documents from best to worst; see `matchwork.rank.rerank`."""
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)


def rerank(
    scorer: Scorer,
    query: str,
    documents: Sequence[str | Document],
    *,
    top_k: int | None = None,
    threshold: float | None = None,
) -> list[Ranked]:
    """Score documents for one query and order them from best to worst.

    Args:
        scorer: Scores the pairs; its `calibration`, if it has one, gives the probabilities.
        query: The query text.
        documents: Texts or `Document`s; equal scores keep this order.
        top_k: Return at most this many documents.
        threshold: Return only documents that match with at least this probability.

    Raises:
        ConfigError: `threshold` is set and the scorer is not calibrated, or a limit is out of
            range.
    """
    named = as_documents(documents)
    calibration = getattr(scorer, "calibration", None)
    check_limits(top_k, threshold)
    if threshold is not None and calibration is None:
        raise ConfigError(
            f"threshold {threshold}: {scorer.name} is not calibrated and gives no probabilities; "
            "use a matcher that was trained with a dev split, or leave the threshold out"
        )
    scores = scorer.score([(query, document.text) for document in named])
    probabilities = None if calibration is None else calibration.probability(scores)
    return ranking(named, scores, probabilities, top_k=top_k, threshold=threshold)


def ranking(
    documents: Sequence[str | Document],
    scores: Scores,
    probabilities: Scores | None = None,
    *,
    top_k: int | None = None,
    threshold: float | None = None,
) -> list[Ranked]:
    """Order scored documents from best to worst.

    Args:
        documents: Texts or `Document`s; equal scores keep this order.
        scores: Shape (documents,); higher is better.
        probabilities: Shape (documents,); they must not fall where scores rise.
        top_k: Return at most this many documents.
        threshold: Return only documents with at least this probability.
    """
    named = as_documents(documents)
    check_limits(top_k, threshold)
    best = order(scores)
    if threshold is not None and len(named):
        if probabilities is None:
            raise ConfigError(f"threshold {threshold}: there are no probabilities to compare with")
        best = best[probabilities[best] >= threshold]
    return [
        Ranked(
            rank,
            float(scores[index]),
            named[index],
            index,
            None if probabilities is None else float(probabilities[index]),
        )
        for rank, index in enumerate(best[:top_k].tolist(), start=1)
    ]


def relevance(scorer: Scorer, scores: Scores) -> Scores:
    """Map scores of any range to [0, 1], keeping their order, for clients that expect that.

    A calibrated scorer gives probabilities. Without calibration the result only orders:
    `s / (1 + s)` for scores that are never negative, and `(1 + s / (1 + |s|)) / 2` for others.
    Unlike a logistic function, both keep large scores apart.
    """
    calibration = getattr(scorer, "calibration", None)
    if calibration is not None:
        probabilities: Scores = calibration.probability(scores)
        return probabilities
    bounded: Scores = scores / (1 + np.abs(scores))
    return bounded if getattr(scorer, "never_negative", False) else (1 + bounded) / 2


def check_limits(top_k: int | None = None, threshold: float | None = None) -> None:
    """Raise a `ConfigError` for a limit that is out of range."""
    if top_k is not None and top_k < 1:
        raise ConfigError(f"top_k must be at least 1, got {top_k}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must lie between 0 and 1, got {threshold}")

"""Reranking: documents and their scores, ordered from best to worst."""

from collections.abc import Iterable, Sequence

import numpy as np

from matchwork.errors import ConfigError, DataError
from matchwork.ordering import order
from matchwork.types import Document, Ranked, Scorer, Scores


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
        scores: One score per document; higher is better.
        probabilities: One probability per document, if there are any. They must not fall where
            scores rise.
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


def check_limits(top_k: int | None = None, threshold: float | None = None) -> None:
    """Raise a `ConfigError` for a limit that is out of range."""
    if top_k is not None and top_k < 1:
        raise ConfigError(f"top_k must be at least 1, got {top_k}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must lie between 0 and 1, got {threshold}")


def as_documents(documents: Iterable[str | Document]) -> list[Document]:
    """Return `Document`s; a plain text gets its position as its id."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise DataError(f"documents must be a list of texts, got {documents!r}")
    return [_as_document(index, document) for index, document in enumerate(documents)]


def _as_document(index: int, document: str | Document) -> Document:
    if isinstance(document, Document):
        return document
    if not isinstance(document, str):
        raise DataError(f"documents[{index}] is not a text: {document!r}; leave it out")
    return Document(str(index), document)


def require_pairs(pairs: Iterable[object]) -> None:
    """Raise a `DataError` unless every item is a pair of texts."""
    for index, pair in enumerate(pairs):
        if (
            not isinstance(pair, tuple | list | np.ndarray)
            or len(pair) != 2
            or not all(isinstance(text, str) for text in pair)
        ):
            raise DataError(f"pairs[{index}] is not two texts: {pair!r}")

"""Scores -> rankings, for anything that is a `Scorer`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from matchwork.errors import ConfigError, DataError
from matchwork.ordering import order
from matchwork.types import Document, Ranked, Run, Scorer, Scores, TextPair

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many pairs are scored, and of how many."""


def as_documents(documents: Sequence[str | Document]) -> list[Document]:
    """Plain texts become documents named by their position."""
    return [
        document if isinstance(document, Document) else Document(str(position), document)
        for position, document in enumerate(documents)
    ]


def ranked(documents: Sequence[Document], scores: Scores, top_k: int | None = None) -> list[Ranked]:
    """Documents and their scores from best to worst; ties keep the order given."""
    if top_k is not None and top_k < 1:
        raise ConfigError(f"top_k must be at least 1, got {top_k}")
    return [
        Ranked(rank, float(scores[position]), documents[position])
        for rank, position in enumerate(order(scores)[:top_k], start=1)
    ]


def rank(
    scorer: Scorer, query: str, documents: Sequence[str | Document], top_k: int | None = None
) -> list[Ranked]:
    """The documents from best to worst for one query."""
    named = as_documents(documents)
    return ranked(named, scorer.score([(query, document.text) for document in named]), top_k)


def rank_all(
    scorer: Scorer,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    candidates: Mapping[str, Sequence[str]] | None = None,
    *,
    window: int = 50_000,
    progress: Progress | None = None,
) -> Run:
    """Score every candidate of every query; without `candidates` each query ranks all documents.

    Pairs go to the scorer in large windows that cut across queries: it can batch them by
    length, and no more than one window of texts is held at a time.
    """
    pools: dict[str, Collection[str]] = {
        query: documents if candidates is None else candidates.get(query, ()) for query in queries
    }
    run: Run = {query: {} for query in queries}
    total, done = sum(map(len, pools.values())), 0
    names = ((query, document) for query, pool in pools.items() for document in pool)
    while part := list(islice(names, window)):
        scores = scorer.score(_texts(part, queries, documents))
        for (query, document), score in zip(part, scores.tolist(), strict=True):
            run[query][document] = score
        done += len(part)
        if progress is not None:
            progress(done, total)
    return run


def _texts(
    names: Sequence[tuple[str, str]], queries: Mapping[str, str], documents: Mapping[str, str]
) -> list[TextPair]:
    try:
        return [(queries[query], documents[document]) for query, document in names]
    except KeyError:
        query, document = next(pair for pair in names if pair[1] not in documents)
        raise DataError(
            f"query {query!r} has candidate {document!r}, which is not among the "
            f"{len(documents)} documents; check the ids of the candidates"
        ) from None

"""Scores -> rankings, for anything that is a `Scorer`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol, TypeAlias, runtime_checkable
from zlib import crc32

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.ordering import order
from matchwork.types import Document, Ranked, Run, Scorer, Scores

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many pairs are scored, and of how many."""
Done: TypeAlias = Callable[[int], None]
"""Told how many more pairs are scored."""

Rows: TypeAlias = npt.NDArray[np.int64]
_Scored: TypeAlias = tuple[Rows, Scores]
RowScores: TypeAlias = Callable[[Rows, Rows], Scores]
"""Numbers of queries and of documents, side by side, to one score per pair."""


@runtime_checkable
class RowScorer(Protocol):
    """A scorer that reads many texts once, to score any pairs of them afterwards."""

    def by_row(
        self, queries: Sequence[str], documents: Sequence[str], done: Done | None = None
    ) -> RowScores:
        """Scores pairs of these texts by their numbers; `done` is told how many more are."""
        ...


def as_documents(documents: Iterable[str | Document]) -> list[Document]:
    """Plain texts become documents named by their position."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise DataError(f"documents must be a list of texts, got {documents!r}")
    return [_as_document(position, document) for position, document in enumerate(documents)]


def _as_document(position: int, document: str | Document) -> Document:
    if isinstance(document, Document):
        return document
    if not isinstance(document, str):
        raise DataError(f"documents[{position}] is not a text: {document!r}; leave it out")
    return Document(str(position), document)


def require_pairs(pairs: Iterable[object]) -> None:
    """Refuse what is not two texts, such as a pair that nobody put into a list."""
    for number, pair in enumerate(pairs):
        if (
            not isinstance(pair, tuple | list | np.ndarray)
            or len(pair) != 2
            or not all(isinstance(text, str) for text in pair)
        ):
            raise DataError(f"pairs[{number}] is not two texts: {pair!r}")


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
    keep: int | None = None,
    window: int = 50_000,
    progress: Progress | None = None,
) -> Run:
    """Score every candidate of every query; without `candidates` each query ranks all documents.

    Pairs go to the scorer in large windows that cut across queries, so that it can batch them
    by length; with `keep` only the best of each query stay, whatever the number of documents.
    """
    if keep is not None and keep < 1:
        raise ConfigError(f"keep must be at least 1, got {keep}")
    names = list(documents if candidates is None else _used(queries, candidates))
    hashes, pools = id_hashes(names), _pools(queries, names, candidates)
    tell = _counting(progress, sum(map(len, pools)))
    score = _row_scores(scorer, list(queries.values()), _texts(names, documents, candidates), tell)
    found: list[_Scored] = [(_rows(()), np.zeros(0)) for _ in queries]
    for part in _windows(pools, window):
        sizes = [len(rows) for _, rows in part]
        numbers = np.repeat([query for query, _ in part], sizes)
        scores = score(numbers, np.concatenate([rows for _, rows in part]))
        ends = np.cumsum(sizes)
        for (query, rows), values in zip(part, np.split(scores, ends[:-1]), strict=True):
            found[query] = _merge(found[query], (rows, values), hashes, keep)
    return {
        query: dict(zip(map(names.__getitem__, rows.tolist()), values.tolist(), strict=True))
        for query, (rows, values) in zip(queries, found, strict=True)
    }


def best(scores: npt.ArrayLike, hashes: Rows, top_k: int | None) -> Rows:
    """Positions of the `top_k` best, in the order they came.

    Ties at the cut fall by a hash of the id: files may list relevant documents first.
    """
    if top_k is None or top_k >= len(hashes):
        return np.arange(len(hashes))
    return np.sort(order(scores, hashes)[:top_k])


def id_hashes(ids: Iterable[str]) -> Rows:
    """What decides between equal scores at a cut."""
    return _rows(crc32(name.encode()) for name in ids)


def _rows(numbers: Iterable[int]) -> Rows:
    return np.fromiter(numbers, dtype=np.int64)


def _used(queries: Mapping[str, str], candidates: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """Every candidate of these queries once."""
    return dict.fromkeys(chain.from_iterable(candidates.get(query, ()) for query in queries))


def _pools(
    queries: Mapping[str, str],
    names: Sequence[str],
    candidates: Mapping[str, Sequence[str]] | None,
) -> list[Rows]:
    """What each query ranks, as numbers of documents."""
    if candidates is None:
        return [np.arange(len(names))] * len(queries)
    row = {name: number for number, name in enumerate(names)}
    return [_rows(map(row.__getitem__, candidates.get(query, ()))) for query in queries]


def _merge(found: _Scored, more: _Scored, hashes: Rows, keep: int | None) -> _Scored:
    """The best of what was found and what came; the same for any cut into parts."""
    rows, values = np.concatenate([found[0], more[0]]), np.concatenate([found[1], more[1]])
    kept = best(values, hashes[rows], keep)
    return rows[kept], values[kept]


def _windows(pools: Sequence[Rows], window: int) -> Iterator[list[tuple[int, Rows]]]:
    """Parts of at most `window` pairs: (number of a query, rows of its documents)."""
    part: list[tuple[int, Rows]] = []
    room = window
    for query, pool in enumerate(pools):
        while len(pool):
            part.append((query, pool[:room]))
            pool, room = pool[room:], room - len(part[-1][1])
            if not room:
                yield part
                part, room = [], window
    if part:
        yield part


def _counting(progress: Progress | None, total: int) -> Done | None:
    """From how many more pairs are scored to how many are, of all."""
    if progress is None:
        return None
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return tell


def _row_scores(
    scorer: Scorer, queries: Sequence[str], documents: Sequence[str], done: Done | None
) -> RowScores:
    if isinstance(scorer, RowScorer):
        return scorer.by_row(queries, documents, done)

    def score(query_rows: Rows, document_rows: Rows) -> Scores:
        pairs = zip(query_rows.tolist(), document_rows.tolist(), strict=True)
        scores = scorer.score([(queries[query], documents[document]) for query, document in pairs])
        if done is not None:
            done(len(scores))
        return scores

    return score


def _texts(
    names: Sequence[str],
    documents: Mapping[str, str],
    candidates: Mapping[str, Sequence[str]] | None,
) -> list[str]:
    try:
        return [documents[name] for name in names]
    except KeyError as error:
        unknown = error.args[0]
        query = next(query for query, pool in (candidates or {}).items() if unknown in pool)
        raise DataError(
            f"query {query!r} has candidate {unknown!r}, which is not among the "
            f"{len(documents)} documents; check the ids of the candidates"
        ) from None

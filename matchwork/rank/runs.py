"""Runs: every candidate of many queries scored in large batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol, TypeAlias, runtime_checkable
from zlib import crc32

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.ordering import order
from matchwork.types import Advance, Progress, Run, Scorer, Scores

Indices: TypeAlias = npt.NDArray[np.int64]
PairScorer: TypeAlias = Callable[[Indices, Indices], Scores]
"""Maps query indices and document indices, shape (pairs,) each, to scores, shape (pairs,)."""
_Scored: TypeAlias = tuple[Indices, Scores]


class Pools(Protocol):
    """Queries and what is ranked for each of them; a `Split` is one.

    `candidates` maps query ids to document ids; None: every document is a candidate.
    """

    @property
    def queries(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def documents(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def candidates(self) -> Mapping[str, Sequence[str]] | None: ...  # noqa: D102


@runtime_checkable
class CachingScorer(Protocol):
    """A scorer that can read many texts once and then score any pairs of them."""

    def prepare(
        self, queries: Sequence[str], documents: Sequence[str], advance: Advance | None = None
    ) -> PairScorer:
        """Read the texts and return a function that scores pairs of them by index."""
        ...


def rank_all(
    scorer: Scorer,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    candidates: Mapping[str, Sequence[str]] | None = None,
    *,
    top_k: int | None = None,
    window: int = 50_000,
    progress: Progress | None = None,
) -> Run:
    """Score every candidate of every query.

    Pairs go to the scorer in large windows that cut across queries, so that it can batch them
    by length.

    Args:
        scorer: Scores the pairs.
        queries: Texts by query id.
        documents: Texts by document id.
        candidates: Document ids to score for each query id; None: all documents for each query.
        top_k: Keep only this many of each query, in memory that does not grow with the number of
            documents. Ties at the cut are broken by a hash of the id.
        window: Number of pairs scored at once.
        progress: Called with the number of pairs scored, and of how many.
    """
    if top_k is not None and top_k < 1:
        raise ConfigError(f"top_k must be at least 1, got {top_k}")
    pooled = () if candidates is None else (candidates.get(query, ()) for query in queries)
    ids = list(documents if candidates is None else dict.fromkeys(chain.from_iterable(pooled)))
    hashes, pools = id_hashes(ids), _pools(queries, ids, candidates)
    advance = _counting(progress, sum(map(len, pools)))
    score = _prepare(scorer, list(queries.values()), _texts(ids, documents, candidates), advance)
    results: list[_Scored] = [(_indices(()), np.zeros(0)) for _ in queries]
    for part in _windows(pools, window):
        sizes = [len(indices) for _, indices in part]
        query_indices = np.repeat([query for query, _ in part], sizes)
        scores = score(query_indices, np.concatenate([indices for _, indices in part]))
        ends = np.cumsum(sizes)
        for (query, indices), values in zip(part, np.split(scores, ends[:-1]), strict=True):
            results[query] = _merge(results[query], (indices, values), hashes, top_k)
    return {
        query: dict(zip(map(ids.__getitem__, indices.tolist()), values.tolist(), strict=True))
        for query, (indices, values) in zip(queries, results, strict=True)
    }


def best_indices(scores: npt.ArrayLike, hashes: Indices, top_k: int | None) -> Indices:
    """Return the indices of the `top_k` best scores, in ascending order.

    Ties at the cut are broken by `hashes` of the ids: files may list relevant documents first.
    """
    if top_k is None or top_k >= len(hashes):
        return np.arange(len(hashes))
    return np.sort(order(scores, hashes)[:top_k])


def id_hashes(ids: Iterable[str]) -> Indices:
    """Return a hash of each id, which breaks ties between equal scores at a cut."""
    return _indices(crc32(name.encode()) for name in ids)


def _indices(numbers: Iterable[int]) -> Indices:
    return np.fromiter(numbers, dtype=np.int64)


def _pools(
    queries: Mapping[str, str],
    ids: Sequence[str],
    candidates: Mapping[str, Sequence[str]] | None,
) -> list[Indices]:
    """Document indices to score for each query."""
    if candidates is None:
        return [np.arange(len(ids))] * len(queries)
    index = {name: number for number, name in enumerate(ids)}
    return [_indices(map(index.__getitem__, candidates.get(query, ()))) for query in queries]


def _merge(results: _Scored, more: _Scored, hashes: Indices, top_k: int | None) -> _Scored:
    """The best of both; independent of how the pairs were cut into windows."""
    indices, values = np.concatenate([results[0], more[0]]), np.concatenate([results[1], more[1]])
    best = best_indices(values, hashes[indices], top_k)
    return indices[best], values[best]


def _windows(pools: Sequence[Indices], window: int) -> Iterator[list[tuple[int, Indices]]]:
    """Parts of at most `window` pairs, as (query index, document indices)."""
    part: list[tuple[int, Indices]] = []
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


def _counting(progress: Progress | None, total: int) -> Advance | None:
    """Turn increments into calls of `progress`."""
    if progress is None:
        return None
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return advance


def _prepare(
    scorer: Scorer, queries: Sequence[str], documents: Sequence[str], advance: Advance | None
) -> PairScorer:
    if isinstance(scorer, CachingScorer):
        return scorer.prepare(queries, documents, advance)

    def score(query_indices: Indices, document_indices: Indices) -> Scores:
        pairs = zip(query_indices.tolist(), document_indices.tolist(), strict=True)
        scores = scorer.score([(queries[query], documents[document]) for query, document in pairs])
        if advance is not None:
            advance(len(scores))
        return scores

    return score


def _texts(
    ids: Sequence[str],
    documents: Mapping[str, str],
    candidates: Mapping[str, Sequence[str]] | None,
) -> list[str]:
    try:
        return [documents[name] for name in ids]
    except KeyError as error:
        unknown = error.args[0]
        query = next(query for query, pool in (candidates or {}).items() if unknown in pool)
        raise DataError(
            f"query {query!r} has candidate {unknown!r}, which is not among the "
            f"{len(documents)} documents; check the ids of the candidates"
        ) from None

"""Two-stage retrieval: BM25 finds documents, a second scorer reranks the best of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from matchwork.errors import ConfigError
from matchwork.inputs import require_pairs
from matchwork.rank.bm25 import BM25
from matchwork.rank.fusion import check_weight, fuse
from matchwork.rank.ranking import Reranker, ranking
from matchwork.rank.runs import Pools, best_indices, id_hashes, rank_all
from matchwork.types import Document, Progress, Ranked, Run, Scorer, Scores, TextPair


@dataclass(frozen=True)
class Pipeline(Reranker):
    """BM25 followed by a reranker of its best documents.

    Documents below `depth` stay beneath the others in first-stage order.

    Args:
        first: Finds documents.
        second: Reranks them.
        depth: How many of the best first-stage documents are reranked.
        weight: Share of the second stage when scores are fused; None: it alone decides.
    """

    first: BM25
    second: Scorer
    depth: int = 100
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError(f"depth must be at least 1, got {self.depth}")
        if self.weight is not None:
            check_weight(self.weight)

    @property
    def name(self) -> str:
        """Both stages, in order."""
        return f"{self.first.name} > {self.second.name}"

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Score pairs of texts, shape (pairs,).

        All pairs of one query in a call are ranked together, since the depth and the fusion
        depend on the other documents of the query: compare scores of one query in one call only.
        """
        pairs = list(pairs)
        require_pairs(pairs)
        queries = {query: query for query, _ in pairs}
        documents = {document: document for _, document in pairs}
        pools: dict[str, dict[str, None]] = {query: {} for query in queries}
        for query, document in pairs:
            pools[query][document] = None
        candidates = {query: tuple(pool) for query, pool in pools.items()}
        first = rank_all(self.first, queries, documents, candidates)
        run = self.rerank_run(queries, documents, first)
        return np.array([run[query][document] for query, document in pairs], dtype=np.float64)

    def search(self, query: str, top_k: int | None = None) -> list[Ranked]:
        """Return the documents that the index finds for a query, reranked, best first.

        `Ranked.index` is the document's position in the first stage's result.
        """
        scores = self.retrieve({"": query}, top_k)[""]
        documents = [Document(name, self.first.documents[name]) for name in scores]
        return ranking(documents, np.array(list(scores.values())), top_k=top_k)

    def retrieve(
        self, queries: Mapping[str, str], top_k: int | None = None, progress: Progress | None = None
    ) -> Run:
        """Search the index for every query; `top_k` documents each, or `depth`."""
        first = self.first.retrieve(queries, max(self.depth, top_k or 0))
        run = self.rerank_run(queries, self.first.documents, first, progress)
        return {query: _best(scores, top_k) for query, scores in run.items()}

    def run(self, split: Pools, progress: Progress | None = None) -> Run:
        """Rank a split: its candidates where it has them, the index otherwise."""
        documents, first = self._first_run(split)
        return self.rerank_run(split.queries, documents, first, progress)

    def stage_runs(self, split: Pools) -> tuple[Run, Run]:
        """Return the first and the second stage's scores of the documents that are reranked."""
        documents, first = self._first_run(split)
        heads = self._heads(first)
        return heads, self._second_run(split.queries, documents, heads)

    def rerank_run(
        self,
        queries: Mapping[str, str],
        documents: Mapping[str, str],
        first: Run,
        progress: Progress | None = None,
    ) -> Run:
        """Rerank any first-stage run.

        Args:
            queries: Texts by query id.
            documents: Texts by document id.
            first: First-stage scores by query id and document id.
            progress: Called with the number of pairs scored, and of how many.
        """
        heads = self._heads(first)
        run = self._second_run(queries, documents, heads, progress)
        if self.weight is not None:
            run = fuse(run, heads, self.weight)
        return {query: _on_top(run.get(query, {}), scores) for query, scores in first.items()}

    def _first_run(self, split: Pools) -> tuple[Mapping[str, str], Run]:
        if split.candidates is None:
            return self.first.documents, self.first.retrieve(split.queries, self.depth)
        return split.documents, rank_all(
            self.first, split.queries, split.documents, split.candidates
        )

    def _heads(self, first: Run) -> Run:
        return {query: _best(scores, self.depth) for query, scores in first.items()}

    def _second_run(
        self,
        queries: Mapping[str, str],
        documents: Mapping[str, str],
        heads: Run,
        progress: Progress | None = None,
    ) -> Run:
        pools = {query: tuple(head) for query, head in heads.items()}
        return rank_all(self.second, queries, documents, pools, progress=progress)


def _best(scores: Mapping[str, float], top_k: int | None) -> dict[str, float]:
    """The best `top_k`, in the order given."""
    ids, values = list(scores), list(scores.values())
    return {ids[i]: values[i] for i in best_indices(values, id_hashes(ids), top_k).tolist()}


def _on_top(head: Mapping[str, float], first: Mapping[str, float]) -> dict[str, float]:
    """The scores of the head, and beneath them those of the rest in first-stage order."""
    rest = [score for document, score in first.items() if document not in head]
    shift = min(head.values(), default=0.0) - 1.0 - max(rest, default=0.0)
    return {document: head.get(document, score + shift) for document, score in first.items()}

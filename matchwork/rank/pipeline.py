"""Retrieve, re-rank, fuse: a cheap first stage finds, a matcher orders what it found.

Fusion is `weight * second + (1 - weight) * first` after min-max normalisation per query: the
best document of a query gets 1, its worst 0, a document that one stage did not score 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matchwork.data.dataset import Split
from matchwork.errors import ConfigError
from matchwork.evaluate import evaluate
from matchwork.rank.bm25 import BM25
from matchwork.rank.ranking import Progress, as_documents, best, id_hashes, rank_all, ranked
from matchwork.types import Document, Qrels, Ranked, Run, Scorer

WEIGHTS: tuple[float, ...] = tuple(round(step * 0.05, 2) for step in range(21))
"""What `choose_weight` tries."""


def normalise(run: Run) -> Run:
    """Scores of each query mapped onto [0, 1]; all 0 where they are all equal."""
    return {query: _normalise(scores) for query, scores in run.items()}


def _normalise(scores: Mapping[str, float]) -> dict[str, float]:
    values = np.fromiter(scores.values(), np.float64, len(scores))
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    spread = high - low if high > low else 1.0
    return dict(zip(scores, ((values - low) / spread).tolist(), strict=True))


def _mix(run: Run, other: Run, weight: float) -> Run:
    mixed: Run = {}
    for query in {**run, **other}:
        ours, theirs = run.get(query, {}), other.get(query, {})
        mixed[query] = {
            document: weight * ours.get(document, 0.0) + (1 - weight) * theirs.get(document, 0.0)
            for document in {**ours, **theirs}
        }
    return mixed


def fuse(run: Run, other: Run, weight: float) -> Run:
    """Interpolate two runs: `weight` is the share of `run`, both normalised per query."""
    _check_weight(weight)
    return _mix(normalise(run), normalise(other), weight)


def choose_weight(
    run: Run, other: Run, qrels: Qrels, measure: str = "RR", protocol: str = "raw"
) -> float:
    """The share of `run` that fuses best on these (dev) judgements; the smallest of equals."""
    ours, theirs = normalise(run), normalise(other)
    values = [
        evaluate(_mix(ours, theirs, weight), qrels, [measure], protocol)[measure]
        for weight in WEIGHTS
    ]
    return WEIGHTS[int(np.argmax(values))]


def _check_weight(weight: float) -> None:
    if not 0 <= weight <= 1:
        raise ConfigError(f"weight must lie between 0 (first stage) and 1 (second), got {weight}")


@dataclass(frozen=True)
class Pipeline:
    """BM25 finds, `second` re-ranks the best `depth` of them; the rest stay beneath, in order.

    Without a `weight` the second stage alone decides; with one, its score is fused with that
    of the first stage.
    """

    first: BM25
    second: Scorer
    depth: int = 100
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError(f"depth must be at least 1, got {self.depth}")
        if self.weight is not None:
            _check_weight(self.weight)

    @property
    def name(self) -> str:
        """Both stages, in order."""
        return f"{self.first.name} > {self.second.name}"

    def retrieve(
        self, queries: Mapping[str, str], top_k: int | None = None, progress: Progress | None = None
    ) -> Run:
        """Search the index for every query; `depth` documents each, or `top_k`."""
        found = self.first.retrieve(queries, max(self.depth, top_k or 0))
        run = self.rerank(queries, self.first.documents, found, progress)
        return {query: _best(scores, top_k) for query, scores in run.items()}

    def run(self, split: Split, progress: Progress | None = None) -> Run:
        """Rank a split: its candidates where it has them, the index otherwise."""
        documents, found = self._find(split)
        return self.rerank(split.queries, documents, found, progress)

    def rerank(
        self,
        queries: Mapping[str, str],
        documents: Mapping[str, str],
        found: Run,
        progress: Progress | None = None,
    ) -> Run:
        """Put the second stage on top of any first-stage run."""
        heads = {query: _best(scores, self.depth) for query, scores in found.items()}
        run = self._second_run(queries, documents, heads, progress)
        if self.weight is not None:
            run = fuse(run, heads, self.weight)
        return {query: _on_top(run.get(query, {}), scores) for query, scores in found.items()}

    def rank(
        self,
        query: str,
        documents: Sequence[str | Document] | None = None,
        top_k: int | None = None,
    ) -> list[Ranked]:
        """Rank the given documents, or those that the index finds for the query."""
        queries = {"": query}
        if documents is None:
            scores = self.retrieve(queries, top_k)[""]
            named = [Document(name, self.first.documents[name]) for name in scores]
        else:
            named = as_documents(documents)
            texts = {str(position): document.text for position, document in enumerate(named)}
            scores = self.rerank(queries, texts, rank_all(self.first, queries, texts))[""]
        return ranked(named, np.array(list(scores.values())), top_k)

    def fit_weight(self, split: Split, measure: str = "RR", protocol: str = "raw") -> "Pipeline":
        """The same pipeline with the weight that is best on a dev split."""
        documents, found = self._find(split)
        heads = {query: _best(scores, self.depth) for query, scores in found.items()}
        run = self._second_run(split.queries, documents, heads)
        return replace(self, weight=choose_weight(run, heads, split.qrels, measure, protocol))

    def _find(self, split: Split) -> tuple[Mapping[str, str], Run]:
        if split.candidates is None:
            return self.first.documents, self.first.retrieve(split.queries, self.depth)
        found = rank_all(self.first, split.queries, split.documents, split.candidates)
        return split.documents, found

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
    """The first `top_k`, in the order they came."""
    names, values = list(scores), list(scores.values())
    kept = best(values, id_hashes(names), top_k).tolist()
    return {names[position]: values[position] for position in kept}


def _on_top(head: Mapping[str, float], found: Mapping[str, float]) -> dict[str, float]:
    """The scores of the head, and beneath them those of the rest in their own order."""
    rest = [score for document, score in found.items() if document not in head]
    shift = min(head.values(), default=0.0) - 1.0 - max(rest, default=0.0)
    return {document: head.get(document, score + shift) for document, score in found.items()}

"""Service behind every protocol: checked requests, queues, scores, rankings, search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event

from matchwork.errors import ConfigError
from matchwork.explain import Explanation
from matchwork.rank import BM25
from matchwork.rank.ranking import ranking, relevance
from matchwork.registry import did_you_mean
from matchwork.serve.batching import Batcher, Requests
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.metrics import Metrics
from matchwork.serve.served import Scored, Served
from matchwork.serve.settings import Settings
from matchwork.types import Ranked, Scores, TextPair

_SEARCH = "/search"  # name of the queue; models are named after folders, hence without a slash
_MAX_SHOWN = 80  # characters of a client's own words in an error


@dataclass(frozen=True)
class Hit:
    """A document of the collection and its BM25 score."""

    id: str
    text: str
    score: float


class Collection:
    """Texts by id, in which `/search` finds candidates with BM25."""

    def __init__(self, documents: Mapping[str, str], settings: Settings) -> None:
        for id, text in documents.items():
            if len(text) > settings.max_chars:
                raise ConfigError(
                    f"document {id!r} of the collection has {len(text)} characters; at most "
                    f"{settings.max_chars}: cut it, or raise --max-chars"
                )
        self._index = BM25.fit(documents)
        self._max_hits = settings.max_documents

    def __len__(self) -> int:
        return len(self._index.documents)

    def search(self, requests: Requests, cancelled: Event) -> list[list[Hit]]:
        """Return the best documents for the query of each request."""
        queries = [query for ((query, _),) in requests]
        return [
            [Hit(id, self._index.documents[id], score) for id, score in scores.items()]
            for scores in self._index.search(queries, self._max_hits)
        ]


@dataclass(frozen=True)
class Answer(Scored):
    """The scores of one request, and their relevance (0 to 1)."""

    relevance: Scores

    @property
    def headers(self) -> dict[str, str]:
        """Response headers that say how much text was cut off."""
        cut = self.truncation
        return {"X-Matchwork-Truncated": f"texts={cut.texts}, tokens={cut.tokens}"}


class Service:
    """The models by name, each with its own queue; the first answers requests that name none."""

    def __init__(
        self,
        models: Mapping[str, Served],
        settings: Settings,
        metrics: Metrics,
        collection: Collection | None = None,
    ) -> None:
        self.models = dict(models)
        self.settings = settings
        self.metrics = metrics
        self.collection = collection
        self._batchers: dict[str, Batcher] = {}

    def start(self) -> None:
        """Open the queues."""
        names = (*self.models, *([_SEARCH] if self.collection else []))
        self._batchers = {name: Batcher(name, self.settings, self.metrics) for name in names}

    def close(self) -> None:
        """Finish accepted requests and close the queues."""
        for batcher in self._batchers.values():
            batcher.close()

    @property
    def is_ready(self) -> bool:
        """Whether every queue accepts work."""
        queues = self._batchers.values()
        return bool(queues) and all(queue.is_ready for queue in queues)

    def find(self, name: str | None) -> Served:
        """Return a model by name, or the first one."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            shown = repr(name if len(name) <= _MAX_SHOWN else name[:_MAX_SHOWN] + "…")
            hint = did_you_mean(name, self.models)
            raise Failure(Kind.NO_MODEL, f"no model named {shown}; {hint}")
        return self.models[name]

    def check(self, query: str, documents: Sequence[str], noun: str = "document") -> None:
        """Refuse empty, too many or too long texts; `noun` is the protocol's word for one."""
        self.check_query(query)
        self._check_number(len(documents), f"{noun}s")
        for index, document in enumerate(documents):
            self.check_length(document, f"{noun} {index}")

    def check_pairs(self, pairs: Sequence[TextPair]) -> None:
        """Refuse empty, too many or too long pairs."""
        self._check_number(len(pairs), "pairs")
        for index, (query, document) in enumerate(pairs):
            self.check_query(query, f"query of pair {index}")
            self.check_length(document, f"document of pair {index}")

    def check_query(self, query: str, name: str = "query") -> None:
        """Refuse an empty or too long query."""
        if not query:
            raise Failure(Kind.EMPTY, f"{name} must not be empty")
        self.check_length(query, name)

    def check_length(self, text: str, name: str) -> None:
        """Refuse a text that is too long."""
        limit = self.settings.max_chars
        if len(text) > limit:
            raise Failure(Kind.TOO_LONG, f"{name} has {len(text)} characters; at most {limit}")

    def _check_number(self, number: int, names: str) -> None:
        if not number:
            raise Failure(Kind.EMPTY, f"{names} must not be empty: give at least one")
        limit = self.settings.max_documents
        if number > limit:
            raise Failure(Kind.TOO_MANY, f"{number} {names} are too many; at most {limit}")

    async def score(self, served: Served, pairs: Sequence[TextPair]) -> Answer:
        """Score pairs that have been checked."""
        scored: Scored = await self._batchers[served.name].run(served.score, pairs)
        cut = scored.truncation
        self.metrics.cut_texts.labels(served.name).inc(cut.texts)
        self.metrics.cut_tokens.labels(served.name).inc(cut.tokens)
        relevances = relevance(served.scorer, scored.scores)
        return Answer(scored.scores, scored.num_tokens, cut, relevances)

    async def rerank(
        self,
        served: Served,
        query: str,
        documents: Sequence[str],
        *,
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> tuple[list[Ranked], Answer]:
        """Rank checked documents; return the ranking and the scores of all documents.

        By default all documents are returned that reach the threshold of the service.
        """
        answer = await self.score(served, [(query, document) for document in documents])
        if threshold is None:
            threshold = self.settings.threshold
        hits = ranking(documents, answer.scores, answer.relevance, top_k=top_k, threshold=threshold)
        return hits, answer

    async def explain(self, served: Served, pairs: Sequence[TextPair]) -> list[Explanation]:
        """Explain the scores of pairs that have been checked."""
        explanations: list[Explanation]
        explanations = await self._batchers[served.name].run(served.explain, pairs)
        return explanations

    async def search(self, query: str) -> list[Hit]:
        """Return the documents of the collection that BM25 finds, best first."""
        if self.collection is None:
            raise Failure(
                Kind.NO_PATH, "no collection is loaded; start the service with --collection FILE"
            )
        hits: list[Hit] = await self._batchers[_SEARCH].run(self.collection.search, [(query, "")])
        return hits

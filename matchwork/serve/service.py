"""What every protocol asks for, whatever its words: a ranking, scores, reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matchwork.explain import Explanation
from matchwork.matcher.truncation import Truncation
from matchwork.ordering import order
from matchwork.registry import did_you_mean
from matchwork.serve.batching import Batcher
from matchwork.serve.collection import Collection, Hit
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.metrics import Metrics
from matchwork.serve.served import Scored, Served
from matchwork.serve.settings import Settings
from matchwork.types import Scores, TextPair

_SEARCH = "/search"  # the queue's name; a model is named after a folder, which has no slash


@dataclass(frozen=True)
class Answer:
    """Scores and probabilities of one request, in its order; how much was read, and not read."""

    scores: Scores
    probabilities: Scores
    num_tokens: int
    cut: Truncation


class Line(NamedTuple):
    """One row of a ranking; `place` is the document's in the request, from 0."""

    place: int
    score: float
    probability: float


class Service:
    """The served scorers, each behind its queue; the first is the one a request gets unnamed."""

    def __init__(
        self,
        scorers: Mapping[str, Served],
        settings: Settings,
        metrics: Metrics,
        collection: Collection | None = None,
    ) -> None:
        self.scorers = dict(scorers)
        self.settings = settings
        self.metrics = metrics
        self.collection = collection
        self._batchers: dict[str, Batcher] = {}

    def start(self) -> None:
        """Open the queues."""
        names = (*self.scorers, *([_SEARCH] if self.collection else []))
        self._batchers = {name: Batcher(name, self.settings, self.metrics) for name in names}

    def close(self) -> None:
        """Finish what was accepted."""
        for batcher in self._batchers.values():
            batcher.close()

    @property
    def is_ready(self) -> bool:
        """Whether every queue accepts work."""
        queues = self._batchers.values()
        return bool(queues) and all(queue.is_ready for queue in queues)

    def find(self, name: str | None) -> Served:
        """A scorer by the name that clients use."""
        if name is None:
            return next(iter(self.scorers.values()))
        if name not in self.scorers:
            hint = did_you_mean(name, self.scorers)
            raise Failure(Kind.NO_MODEL, f"no model named {shown(name)}; {hint}")
        return self.scorers[name]

    def check(self, query: str, documents: Sequence[str], noun: str = "document") -> None:
        """Refuse what is empty or beyond the limits; `noun` is the protocol's for a document."""
        self.check_query(query)
        self.check_number(len(documents), f"{noun}s")
        for place, document in enumerate(documents):
            self.check_length(document, f"{noun} {place}")

    def check_pairs(self, pairs: Sequence[TextPair]) -> None:
        """The same for pairs of texts."""
        self.check_number(len(pairs), "pairs")
        for place, (query, document) in enumerate(pairs):
            self.check_query(query, f"query of pair {place}")
            self.check_length(document, f"document of pair {place}")

    def check_query(self, query: str, name: str = "query") -> None:
        """Refuse one that is empty or too long."""
        if not query:
            raise Failure(Kind.EMPTY, f"{name} must not be empty")
        self.check_length(query, name)

    def check_number(self, number: int, names: str) -> None:
        """Refuse none, and too many."""
        if not number:
            raise Failure(Kind.EMPTY, f"{names} must not be empty: give at least one")
        limit = self.settings.max_documents
        if number > limit:
            raise Failure(Kind.TOO_MANY, f"{number} {names} are too many; at most {limit}")

    def check_length(self, text: str, name: str) -> None:
        """Refuse a text that is too long."""
        limit = self.settings.max_chars
        if len(text) > limit:
            raise Failure(Kind.TOO_LONG, f"{name} has {len(text)} characters; at most {limit}")

    async def score(self, served: Served, pairs: Sequence[TextPair]) -> Answer:
        """Scores of pairs that have been checked."""
        scored: Scored = await self._batchers[served.name].run(served.score, pairs)
        self.metrics.cut_texts.labels(served.name).inc(scored.cut.texts)
        self.metrics.cut_tokens.labels(served.name).inc(scored.cut.tokens)
        likely = served.probability(scored.scores)
        return Answer(scored.scores, likely, scored.num_tokens, scored.cut)

    async def rank(
        self, served: Served, query: str, documents: Sequence[str]
    ) -> tuple[list[Line], Answer]:
        """All documents, best first."""
        answer = await self.score(served, [(query, document) for document in documents])
        lines = [
            Line(index, float(answer.scores[index]), float(answer.probabilities[index]))
            for index in order(answer.scores).tolist()
        ]
        return lines, answer

    def keep(self, lines: Sequence[Line], top_n: int | None) -> list[Line]:
        """The best of a ranking, without those below the threshold."""
        kept = [line for line in lines if line.probability >= self.settings.threshold]
        return kept[:top_n]

    async def explain(self, served: Served, pairs: Sequence[TextPair]) -> list[Explanation]:
        """Why these pairs got their scores."""
        found: list[Explanation] = await self._batchers[served.name].run(served.explain, pairs)
        return found

    async def search(self, query: str) -> list[Hit]:
        """The documents of the collection that BM25 finds, best first."""
        if self.collection is None:
            raise Failure(
                Kind.NO_PATH, "no collection is loaded; start the service with --collection FILE"
            )
        found: list[Hit] = await self._batchers[_SEARCH].run(self.collection.search, [(query, "")])
        return found


def shown(text: str, limit: int = 80) -> str:
    """A client's own word in an answer, at a bearable length."""
    return repr(text if len(text) <= limit else text[:limit] + "…")

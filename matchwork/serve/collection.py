"""A collection of texts that candidates are found in."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matchwork.errors import ConfigError
from matchwork.rank import BM25
from matchwork.types import TextPair


class Hit(NamedTuple):
    """A document of the collection and its BM25 score."""

    id: str
    text: str
    score: float


class Collection:
    """Texts by id, searched with BM25; a text longer than requests may have is refused."""

    def __init__(self, documents: Mapping[str, str], max_chars: int, max_hits: int) -> None:
        for id, text in documents.items():
            if len(text) > max_chars:
                raise ConfigError(
                    f"document {id!r} of the collection has {len(text)} characters; at most "
                    f"{max_chars}: cut it, or raise --max-chars"
                )
        self._index = BM25.fit(documents)
        self._max_hits = max_hits

    def __len__(self) -> int:
        return len(self._index.documents)

    def search(
        self, requests: Sequence[Sequence[TextPair]], wanted: Callable[[], bool]
    ) -> list[list[Hit]]:
        """The best documents for the query of each request; work for a `Batcher`."""
        queries = [query for ((query, _),) in requests]
        return [
            [Hit(id, self._index.documents[id], score) for id, score in found.items()]
            for found in self._index.search(queries, self._max_hits)
        ]

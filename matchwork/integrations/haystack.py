"""Matchers in Haystack: a ranker for pipelines."""

from dataclasses import replace
from typing import Any

from matchwork.errors import ConfigError, MissingExtraError
from matchwork.integrations.reranking import AnyMatcher, Reranker
from matchwork.matcher import Matcher
from matchwork.rank.ranking import check_limits

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError("using matchers in Haystack", "haystack") from error


@component
class MatchworkRanker:
    """Keeps the best documents, best first, with their relevance (0 to 1) as score.

    `model` is the folder of a saved matcher, a name that `matchwork.load` opens, or a
    `Matcher`, with which a pipeline cannot be written to a file. A document without content is
    an empty text.
    """

    def __init__(
        self, model: AnyMatcher, top_k: int | None = None, score_threshold: float = 0.0
    ) -> None:
        check_limits(top_k, score_threshold)
        self.model = model
        self.top_k = top_k
        self.score_threshold = score_threshold
        self._reranker: Reranker | None = None

    def warm_up(self) -> None:
        """Open the matcher."""
        self._warm()

    def to_dict(self) -> dict[str, Any]:
        """The settings, as pipelines keep them."""
        if isinstance(self.model, Matcher):
            raise ConfigError(
                f"a pipeline cannot hold the matcher {self.model.name!r} itself; save it, and "
                "give MatchworkRanker the folder"
            )
        return default_to_dict(
            self,
            model=str(self.model),
            top_k=self.top_k,
            score_threshold=self.score_threshold,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "MatchworkRanker":
        """The inverse of `to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        score_threshold: float | None = None,
    ) -> dict[str, list[Document]]:
        """The best documents as copies; limits given here take the place of the ranker's own."""
        top_k = self.top_k if top_k is None else top_k
        threshold = self.score_threshold if score_threshold is None else score_threshold
        check_limits(top_k, threshold)
        texts = [document.content or "" for document in documents]
        hits = self._warm().rerank(query, texts, top_k, threshold)
        return {"documents": [replace(documents[hit.index], score=hit.probability) for hit in hits]}

    def _warm(self) -> Reranker:
        if self._reranker is None:
            self._reranker = Reranker(self.model)
        return self._reranker

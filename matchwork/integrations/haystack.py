"""Haystack: a ranker for pipelines."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from matchwork.errors import ConfigError, MissingExtraError
from matchwork.integrations.reranking import AnyScorer, Reranker
from matchwork.rank.ranking import check_limits

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingExtraError("using matchers in Haystack", "haystack") from error


@component
class MatchworkRanker:
    """Returns the best documents, best first, with their relevance (0 to 1) as score.

    A document without content is scored as an empty text.

    Args:
        model: Whatever `matchwork.load` opens, or an open scorer; a pipeline with an open scorer
            cannot be written to a file.
        top_k: Number of documents to return; all by default.
        score_threshold: Lowest relevance to return.
    """

    def __init__(
        self, model: AnyScorer, top_k: int | None = None, score_threshold: float = 0.0
    ) -> None:
        check_limits(top_k, score_threshold)
        self.model = model
        self.top_k = top_k
        self.score_threshold = score_threshold
        self._reranker: Reranker | None = None

    def warm_up(self) -> None:
        """Open the model, once."""
        self._reranker = self._reranker or Reranker(self.model)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, for a pipeline file."""
        if not isinstance(self.model, str | Path):
            raise ConfigError(
                f"a pipeline file cannot hold the scorer {self.model.name!r} itself; save it, and "
                "give MatchworkRanker the folder"
            )
        limits = {"top_k": self.top_k, "score_threshold": self.score_threshold}
        return default_to_dict(self, model=str(self.model), **limits)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "MatchworkRanker":
        """Build a ranker from the settings of a pipeline file."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        score_threshold: float | None = None,
    ) -> dict[str, list[Document]]:
        """Return copies of the best documents.

        Args:
            query: Text of the query.
            documents: Documents to rank.
            top_k: Used instead of the ranker's own.
            score_threshold: Used instead of the ranker's own.
        """
        top_k = self.top_k if top_k is None else top_k
        threshold = self.score_threshold if score_threshold is None else score_threshold
        texts = [document.content or "" for document in documents]
        self.warm_up()
        assert self._reranker is not None
        hits = self._reranker.rerank(query, texts, top_k, threshold)
        return {"documents": [replace(documents[hit.index], score=hit.probability) for hit in hits]}

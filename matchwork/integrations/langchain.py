"""Matchers in LangChain: as a compressor of retrieved documents and as a cross-encoder."""

from collections.abc import Sequence
from typing import Any

from matchwork.errors import MissingExtraError
from matchwork.integrations.reranking import AnyMatcher, Reranker
from matchwork.rank.ranking import check_limits

try:
    from langchain_core.callbacks import Callbacks
    from langchain_core.cross_encoders import BaseCrossEncoder
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError as error:
    raise MissingExtraError("using matchers in LangChain", "langchain") from error

from pydantic import ConfigDict, PrivateAttr


class MatchworkRerank(BaseDocumentCompressor):
    """Keeps the best documents, best first, with their `relevance_score` in the metadata.

    `model` is the folder of a saved matcher, a name that `matchwork.load` opens, or a
    `Matcher`. With `explain`, the metadata also hold an `explanation`: the JSON of
    `matchwork explain`.
    """

    model: AnyMatcher
    top_n: int | None = None
    threshold: float = 0.0
    explain: bool = False
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    _reranker: Reranker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Open the matcher, so that what cannot be opened is known at once."""
        check_limits(self.top_n, self.threshold)
        self._reranker = Reranker(self.model)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The best documents as copies; those that were given stay as they are."""
        texts = [document.page_content for document in documents]
        kept = []
        for hit in self._reranker.rerank(query, texts, self.top_n, self.threshold):
            document = documents[hit.index]
            metadata = {**document.metadata, "relevance_score": hit.probability}
            if self.explain:
                explanation = self._reranker.explain(query, texts[hit.index])
                metadata["explanation"] = explanation.to_dict()
            kept.append(document.model_copy(update={"metadata": metadata}))
        return kept


class MatchworkCrossEncoder(BaseCrossEncoder):
    """Relevance of pairs between 0 and 1, for whatever takes LangChain's cross-encoders."""

    def __init__(self, model: AnyMatcher) -> None:
        self._reranker = Reranker(model)

    def score(self, text_pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One number per pair, in the order given."""
        return self._reranker.relevance(text_pairs).tolist()

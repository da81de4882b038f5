"""LangChain: a document compressor and a cross-encoder."""

from collections.abc import Sequence
from typing import Any

from matchwork.errors import MissingExtraError
from matchwork.integrations.reranking import AnyScorer, Reranker
from matchwork.rank.ranking import check_limits

try:
    from langchain_core.callbacks import Callbacks
    from langchain_core.cross_encoders import BaseCrossEncoder
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError as error:
    raise MissingExtraError("using matchers in LangChain", "langchain") from error

from pydantic import ConfigDict, PrivateAttr


class MatchworkRerank(BaseDocumentCompressor):
    """Returns the best documents, best first, with their `relevance_score` in the metadata.

    Args:
        model: Whatever `matchwork.load` opens, or an open scorer.
        top_n: Number of documents to return; all by default.
        threshold: Lowest relevance to return.
        explain: Whether to add an `explanation` to the metadata: the JSON of `matchwork explain`.
    """

    model: AnyScorer
    top_n: int | None = None
    threshold: float = 0.0
    explain: bool = False
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    _reranker: Reranker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Check the limits and open the model."""
        check_limits(self.top_n, self.threshold)
        self._reranker = Reranker(self.model)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return copies of the best documents."""
        texts = [document.page_content for document in documents]
        best = []
        for hit in self._reranker.rerank(query, texts, self.top_n, self.threshold):
            document = documents[hit.index]
            metadata = {**document.metadata, "relevance_score": hit.probability}
            if self.explain:
                explanation = self._reranker.explain(query, texts[hit.index])
                metadata["explanation"] = explanation.to_dict()
            best.append(document.model_copy(update={"metadata": metadata}))
        return best


class MatchworkCrossEncoder(BaseCrossEncoder):
    """Scores pairs with their relevance (0 to 1), wherever LangChain takes a cross-encoder.

    Args:
        model: Whatever `matchwork.load` opens, or an open scorer.
    """

    def __init__(self, model: AnyScorer) -> None:
        self._reranker = Reranker(model)

    def score(self, text_pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the relevance of each pair, in the order given."""
        return self._reranker.relevance(text_pairs).tolist()

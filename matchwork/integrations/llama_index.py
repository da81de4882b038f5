"""LlamaIndex: a postprocessor of retrieved nodes."""

from typing import Any

from matchwork.errors import DataError, MissingExtraError
from matchwork.integrations.reranking import AnyScorer, Reranker
from matchwork.rank.ranking import check_limits

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError as error:
    raise MissingExtraError("using matchers in LlamaIndex", "llamaindex") from error

from pydantic import PrivateAttr


class MatchworkRerank(BaseNodePostprocessor):
    """Returns the best nodes, best first, with their relevance (0 to 1) as score.

    Only the text of a node is scored, not its metadata.

    Args:
        model: Whatever `matchwork.load` opens, or an open scorer.
        top_n: Number of nodes to return; all by default.
        threshold: Lowest relevance to return.
    """

    model: AnyScorer
    top_n: int | None = None
    threshold: float = 0.0
    _reranker: Reranker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Check the limits and open the model."""
        super().model_post_init(context)
        check_limits(self.top_n, self.threshold)
        self._reranker = Reranker(self.model)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex stores."""
        return "MatchworkRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise DataError("re-ranking needs a query, got none; give query_str or query_bundle")
        texts = [node.node.get_content(MetadataMode.NONE) for node in nodes]
        hits = self._reranker.rerank(query_bundle.query_str, texts, self.top_n, self.threshold)
        return [NodeWithScore(node=nodes[hit.index].node, score=hit.probability) for hit in hits]

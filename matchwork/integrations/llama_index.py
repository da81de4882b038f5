"""Matchers in LlamaIndex: a postprocessor of retrieved nodes."""

from typing import Any

from matchwork.errors import DataError, MissingExtraError
from matchwork.integrations.reranking import AnyMatcher, Reranker
from matchwork.rank.ranking import check_limits

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError as error:
    raise MissingExtraError("using matchers in LlamaIndex", "llamaindex") from error

from pydantic import PrivateAttr


class MatchworkRerank(BaseNodePostprocessor):
    """Keeps the best nodes, best first, with their relevance (0 to 1) as score.

    `model` is the folder of a saved matcher, a name that `matchwork.load` opens, or a
    `Matcher`. It reads the text of a node without its metadata.
    """

    model: AnyMatcher
    top_n: int | None = None
    threshold: float = 0.0
    _reranker: Reranker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Open the matcher, so that what cannot be opened is known at once."""
        super().model_post_init(context)
        check_limits(self.top_n, self.threshold)
        self._reranker = Reranker(self.model)

    @classmethod
    def class_name(cls) -> str:
        """What LlamaIndex calls it."""
        return "MatchworkRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise DataError("re-ranking needs a query, got none; give query_str or query_bundle")
        texts = [node.node.get_content(MetadataMode.NONE) for node in nodes]
        hits = self._reranker.rerank(query_bundle.query_str, texts, self.top_n, self.threshold)
        return [NodeWithScore(node=nodes[hit.index].node, score=hit.probability) for hit in hits]

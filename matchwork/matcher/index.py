"""Documents encoded once, to be ranked for many queries."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.errors import ConfigError, DataError
from matchwork.models import bi_encoded
from matchwork.rank.calibration import AnyCalibration
from matchwork.rank.ranking import as_documents, require_pairs, rerank
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Document, Ranked, Scores, TextPair

if TYPE_CHECKING:
    from matchwork.matcher.matcher import Matcher

MAX_BYTES = 4 << 30


class DocumentIndex:
    """What a matcher needs of its documents, in memory where the matcher is.

    Every distinct text is kept once. It holds for the weights that the matcher had when it was
    made: make a new one after training on.
    """

    def __init__(
        self, matcher: "Matcher", documents: Sequence[str | Document], max_bytes: int = MAX_BYTES
    ) -> None:
        model = matcher.model
        if not bi_encoded(model):
            raise ConfigError(
                f"{matcher.name} reads a document together with its query, so none can be encoded "
                "before; use rank, or a model that encodes them apart (bi-encoder, colbert)"
            )
        self._matcher, self._model = matcher, model
        self._documents = as_documents(documents)
        self._parts: list[tuple[Ids, Encoded]] = []
        self.num_bytes = 0  # that the vectors take
        texts = [document.text for document in self._documents]
        self._rows, tokens = matcher.tokenize(texts, matcher.max_document_length)
        lengths = tokens.lengths
        batches = batches_by_length(np.zeros_like(lengths), lengths, *matcher.batch_limits())
        with matcher.scoring():
            for batch in batches:
                encoded = model.encode(tokens.gather(batch).to(matcher.device))
                part = model.condense(encoded)
                self.num_bytes += sum(tensor.nbytes for tensor in _tensors(part))
                if self.num_bytes > max_bytes:
                    raise ConfigError(_too_large(len(lengths), max_bytes))
                self._parts.append((batch, part))

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def name(self) -> str:
        """That of the matcher."""
        return self._matcher.name

    @property
    def calibration(self) -> AnyCalibration | None:
        """That of the matcher."""
        return self._matcher.calibration

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Return one score per pair of any query and an indexed document, in the order given."""
        pairs = list(pairs)
        require_pairs(pairs)
        index = {document.text: i for i, document in enumerate(self._documents)}
        unknown = next((text for _, text in pairs if text not in index), None)
        if unknown is not None:
            raise DataError(f"no indexed document has the text {unknown!r}; index it first")
        scores = {query: self.score_all(query) for query in dict.fromkeys(q for q, _ in pairs)}
        return np.array([scores[query][index[text]] for query, text in pairs], dtype=np.float64)

    def score_all(self, query: str) -> Scores:
        """Return the score of every indexed document, shape (documents,), in the order given."""
        matcher, model = self._matcher, self._model
        _, tokens = matcher.tokenize([query], matcher.max_query_length)
        if not self._parts:
            return np.empty(0)
        with matcher.scoring():
            encoded = model.encode(tokens.gather(np.zeros(1, np.int64)).to(matcher.device))
            parts = [model.match_all(encoded, part)[0] for _, part in self._parts]
            found = torch.cat(parts).double().cpu().numpy()
        by_text = np.empty_like(found)
        by_text[np.concatenate([batch for batch, _ in self._parts])] = found
        return np.asarray(by_text[self._rows], dtype=np.float64)

    def rerank(
        self,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        """Return some of the indexed documents from best to worst."""
        return rerank(self, query, documents, top_k=top_k, threshold=threshold)

    def search(
        self, query: str, top_k: int | None = None, threshold: float | None = None
    ) -> list[Ranked]:
        """Return all indexed documents from best to worst; see `matchwork.rank.rerank`."""
        return self.rerank(query, self._documents, top_k, threshold)


def _tensors(text: Encoded) -> Iterator[torch.Tensor]:
    for tensor in (text.vectors, text.mask, text.ids, text.special_vectors):
        if tensor is not None:
            yield tensor


def _too_large(num_texts: int, max_bytes: int) -> str:
    return (
        f"the vectors of {num_texts:,} texts take more than max_bytes = {max_bytes:,}; raise it, "
        "lower max_document_length, or use a bi-encoder, which keeps one vector per text"
    )

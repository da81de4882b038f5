"""Documents encoded once, to be ranked for many queries."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.errors import ConfigError
from matchwork.models import bi_encoded
from matchwork.rank.ranking import as_documents, ranked
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Document, Ranked, Scores

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

    def score(self, query: str) -> Scores:
        """One score per document, in the order they were given."""
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

    def rank(self, query: str, top_k: int | None = None) -> list[Ranked]:
        """The documents from best to worst."""
        return ranked(self._documents, self.score(query), top_k)


def _tensors(text: Encoded) -> Iterator[torch.Tensor]:
    for tensor in (text.vectors, text.mask, text.ids, text.special_vectors):
        if tensor is not None:
            yield tensor


def _too_large(num_texts: int, max_bytes: int) -> str:
    return (
        f"the vectors of {num_texts:,} texts take more than max_bytes = {max_bytes:,}; raise it, "
        "lower max_document_length, or use a bi-encoder, which keeps one vector per text"
    )

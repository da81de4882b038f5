"""Documents encoded once, to rank them for many queries."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.errors import ConfigError, DataError
from matchwork.inputs import as_documents, require_pairs
from matchwork.matcher.inference import Inference
from matchwork.matcher.token_pairs import PairReader
from matchwork.models import bi_encoded
from matchwork.rank.calibration import AnyCalibration
from matchwork.rank.ranking import Reranker
from matchwork.text import batches_by_length
from matchwork.text.batch import Ids
from matchwork.types import Document, Ranked, Scores, TextPair

MAX_BYTES = 4 << 30


class DocumentIndex(Reranker):
    """Encoded documents in memory, on the device of the model; each distinct text once.

    Made by `Matcher.index`. It belongs to the weights that the model had then: make a new one
    after further training.
    """

    def __init__(
        self,
        documents: Sequence[str | Document],
        reader: PairReader,
        inference: Inference,
        name: str,
        calibration: AnyCalibration | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        model = inference.model
        if not bi_encoded(model):
            raise ConfigError(
                f"{name} reads a document together with its query, so documents cannot be encoded "
                "in advance; use rerank, or a model that encodes texts one by one (bi-encoder, "
                "colbert)"
            )
        self.name, self.calibration = name, calibration
        self._reader, self._inference, self._model = reader, inference, model
        self._documents = as_documents(documents)
        self._parts: list[tuple[Ids, Encoded]] = []
        self.num_bytes = 0  # of the vectors
        texts = [document.text for document in self._documents]
        self._rows, tokens = reader.read_texts(texts, "document")
        lengths = tokens.lengths
        batches = batches_by_length(np.zeros_like(lengths), lengths, *inference.batch_limits)
        with inference.scoring():
            for batch in batches:
                encoded = model.encode(tokens.gather(batch).to(inference.device))
                part = model.condense(encoded)
                tensors = part.vectors, part.mask, part.ids, part.special_vectors
                self.num_bytes += sum(each.nbytes for each in tensors if each is not None)
                if self.num_bytes > max_bytes:
                    raise ConfigError(
                        f"the vectors of {len(lengths):,} texts take more than max_bytes = "
                        f"{max_bytes:,}; raise it, lower max_document_length, or use a bi-encoder, "
                        "which keeps one vector per text"
                    )
                self._parts.append((batch, part))

    def __len__(self) -> int:
        return len(self._documents)

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
        inference, model = self._inference, self._model
        _, tokens = self._reader.read_texts([query], "query")
        if not self._parts:
            return np.empty(0)
        with inference.scoring():
            encoded = model.encode(tokens.gather(np.zeros(1, np.int64)).to(inference.device))
            parts = [model.match_all(encoded, part)[0] for _, part in self._parts]
            scores = torch.cat(parts).double().cpu().numpy()
        by_text = np.empty_like(scores)
        by_text[np.concatenate([batch for batch, _ in self._parts])] = scores
        return np.asarray(by_text[self._rows], dtype=np.float64)

    def search(
        self, query: str, top_k: int | None = None, threshold: float | None = None
    ) -> list[Ranked]:
        """Return all indexed documents from best to worst; see `matchwork.rank.rerank`."""
        return self.rerank(query, self._documents, top_k, threshold)

"""Tokenised training texts and the labelled pairs between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from matchwork.data.dataset import Split
from matchwork.errors import DataError
from matchwork.inputs import Truncation
from matchwork.text import Tokenizer
from matchwork.text.batch import Ids, TokenTable


@dataclass(frozen=True)
class Lists:
    """A list of document rows for every query, in one flat array (CSR)."""

    flat: Ids
    starts: Ids

    @classmethod
    def group(cls, query_rows: Ids, document_rows: Ids, num_queries: int) -> "Lists":
        """Group documents by query, keeping their order."""
        by_query = np.argsort(query_rows, kind="stable")
        starts = np.zeros(num_queries + 1, dtype=np.int64)
        np.cumsum(np.bincount(query_rows, minlength=num_queries), out=starts[1:])
        return cls(document_rows[by_query], starts)

    def draw(self, query_rows: Ids, num: int, rng: np.random.Generator) -> Ids:
        """Draw with repetition, shape (queries, num); -1 where a query's list is empty."""
        counts = np.diff(self.starts)[query_rows][:, None]
        if not len(self.flat):
            return np.full((len(query_rows), num), -1, dtype=np.int64)
        offsets = np.floor(rng.random((len(query_rows), num)) * counts).astype(np.int64)
        positions = np.minimum(self.starts[query_rows][:, None] + offsets, len(self.flat) - 1)
        return np.where(counts > 0, self.flat[positions], -1)


@dataclass(frozen=True)
class TrainingSet:
    """Token tables of queries and documents, and every labelled pair as rows of them.

    Each text is in its table once; `labels` are divided by the split's label scale.
    """

    queries: TokenTable
    documents: TokenTable
    query_rows: Ids
    document_rows: Ids
    labels: npt.NDArray[np.float32]
    document_texts: Sequence[str]
    query_texts: Sequence[str]

    @classmethod
    def from_split(
        cls,
        split: Split,
        tokenizer: Tokenizer,
        max_query_length: int | None = None,
        max_document_length: int | None = None,
    ) -> "TrainingSet":
        """Tokenise a split that has a positive pair; texts are cut to the given lengths."""
        queries, documents = list(split.queries.values()), list(split.labelled_documents.values())
        query_row = {key: row for row, key in enumerate(split.queries)}
        document_row = {key: row for row, key in enumerate(split.labelled_documents)}
        rows = [
            (query_row[pair.query_id], document_row[pair.document_id], pair.label)
            for pair in split.pairs()
        ]
        if not any(label > 0 for _, _, label in rows):
            raise DataError(
                f"split {split.name!r} has {len(rows)} pairs and no positive one; "
                "nothing can be learnt from it"
            )
        table = np.array(rows, dtype=np.int64)
        return cls(
            tokenizer.encode(queries, max_query_length),
            tokenizer.encode(documents, max_document_length),
            table[:, 0],
            table[:, 1],
            (table[:, 2] / split.label_scale).astype(np.float32),
            documents,
            queries,
        )

    @property
    def truncation(self) -> Truncation:
        """Count the texts that the length limits cut, and the tokens that they lost."""
        sides = self.queries, self.documents
        return Truncation(
            sum(side.num_cut_texts for side in sides), sum(side.num_cut_tokens for side in sides)
        )

    @cached_property
    def positives(self) -> Ids:
        """Indices of the positive pairs."""
        return np.flatnonzero(self.labels > 0)

    @cached_property
    def own_negatives(self) -> Lists:
        """Candidates with label 0 of every query."""
        negative = self.labels <= 0
        return Lists.group(
            self.query_rows[negative], self.document_rows[negative], len(self.queries)
        )

    @cached_property
    def mined(self) -> dict[int, Lists]:
        """Hard negatives by depth, filled by the sampler that searches for them; seeds share it."""
        return {}

    @cached_property
    def _positive_keys(self) -> Ids:
        keys = self.query_rows[self.positives] * len(self.documents)
        return np.unique(keys + self.document_rows[self.positives])

    def is_positive(self, query_rows: Ids, document_rows: Ids) -> npt.NDArray[np.bool_]:
        """Return whether each pair of rows is labelled relevant, of the shape of the rows."""
        keys = query_rows * len(self.documents) + document_rows
        slots = np.minimum(np.searchsorted(self._positive_keys, keys), len(self._positive_keys) - 1)
        relevant: npt.NDArray[np.bool_] = self._positive_keys[slots] == keys
        return relevant

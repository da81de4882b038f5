"""Pairs of texts as rows of two tables of tokens, in which every distinct text stands once."""

from dataclasses import dataclass

import numpy as np

from matchwork.text import PairBatch
from matchwork.text.batch import DeviceTokens, Ids, TokenTable

Tokens = TokenTable | DeviceTokens


@dataclass(frozen=True)
class PairRows:
    """Pair i is row `query_rows[i]` of `queries` with row `document_rows[i]` of `documents`."""

    queries: Tokens
    documents: Tokens
    query_rows: Ids
    document_rows: Ids

    def __len__(self) -> int:
        return len(self.query_rows)

    @property
    def lengths(self) -> tuple[Ids, Ids]:
        """Tokens of the query and of the document of every pair."""
        return self.queries.lengths[self.query_rows], self.documents.lengths[self.document_rows]

    def take(self, places: Ids) -> "PairRows":
        """The pairs in these places."""
        chosen = self.query_rows[places], self.document_rows[places]
        return PairRows(self.queries, self.documents, *chosen)

    def distinct(self) -> tuple["PairRows", Ids]:
        """Every pair once, wherever it occurs, and for each pair its place among these."""
        keys = self.query_rows * len(self.documents.lengths) + self.document_rows
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(keys):  # in their own order, which the caller may have chosen
            return self, np.arange(len(keys))
        return self.take(first), place

    def gather(self) -> PairBatch:
        """Their tokens, padded."""
        return PairBatch(
            self.queries.gather(self.query_rows), self.documents.gather(self.document_rows)
        )

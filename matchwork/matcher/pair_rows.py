"""Pairs of texts as rows of two tables of tokens, in which every distinct text stands once."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch

from matchwork.encode.concatenation import longest_first
from matchwork.text import PairBatch
from matchwork.text.batch import DeviceTokens, Ids, TokenTable

Tokens = TokenTable | DeviceTokens


class Truncation(NamedTuple):
    """How many texts the length limits cut, and how many tokens they lost."""

    texts: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        texts = "1 text was" if self.texts == 1 else f"{self.texts:,} texts were"
        tokens = "1 token" if self.tokens == 1 else f"{self.tokens:,} tokens"
        return f"{texts} too long and lost {tokens}"


@dataclass(frozen=True)
class PairRows:
    """Pair i is row `query_rows[i]` of `queries` with row `document_rows[i]` of `documents`.

    Where two texts have `room` tokens together, the longer one is cut first.
    """

    queries: Tokens
    documents: Tokens
    query_rows: Ids
    document_rows: Ids
    room: int | None = None

    def __len__(self) -> int:
        return len(self.query_rows)

    @cached_property
    def lengths(self) -> tuple[Ids, Ids]:
        """Tokens of the query and of the document of every pair that are read."""
        query, document = self._whole_lengths
        if self.room is None or not len(self):
            return query, document
        lengths = torch.from_numpy(query), torch.from_numpy(document)
        shorter, longer = (length.numpy() for length in longest_first(*lengths, self.room))
        return shorter, longer

    @property
    def num_cut(self) -> Ids:
        """Tokens of every pair that there is no room for."""
        whole, read = np.add(*self._whole_lengths), np.add(*self.lengths)
        cut: Ids = whole - read
        return cut

    @property
    def truncation(self) -> Truncation:
        """How much of these pairs was cut off; equal texts, and equal pairs, count once."""
        pairs, _ = self.distinct()
        cut = np.concatenate(
            [
                self.queries.num_cut[np.unique(self.query_rows)],
                self.documents.num_cut[np.unique(self.document_rows)],
                pairs.num_cut,
            ]
        )
        return Truncation(int((cut > 0).sum()), int(cut.sum()))

    @property
    def num_tokens(self) -> int:
        """Tokens of the distinct queries and of the document of every pair."""
        queries = self.queries.lengths[np.unique(self.query_rows)]
        return int(queries.sum() + self.documents.lengths[self.document_rows].sum())

    @property
    def _whole_lengths(self) -> tuple[Ids, Ids]:
        return self.queries.lengths[self.query_rows], self.documents.lengths[self.document_rows]

    def take(self, places: Ids) -> "PairRows":
        """The pairs in these places."""
        rows = self.query_rows[places], self.document_rows[places]
        return replace(self, query_rows=rows[0], document_rows=rows[1])

    def distinct(self) -> tuple["PairRows", Ids]:
        """Every pair once, wherever it occurs, and for each pair its place among these."""
        keys = self.query_rows * len(self.documents.lengths) + self.document_rows
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(keys):  # in their own order, which the caller may have chosen
            return self, np.arange(len(keys))
        return self.take(first), place

    def gather(self) -> PairBatch:
        """Their tokens, padded."""
        query, document = self.lengths
        return PairBatch(
            self.queries.gather(self.query_rows, query),
            self.documents.gather(self.document_rows, document),
        )

"""Pairs of texts as rows of two token tables, in which each distinct text stands once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from matchwork.encode.concatenation import longest_first
from matchwork.inputs import Truncation, report_truncation, require_pairs
from matchwork.text import PairBatch, Token, Tokenizer
from matchwork.text.batch import DeviceTokens, Ids, TokenTable
from matchwork.types import Side, TextPair

Tokens = TokenTable | DeviceTokens


@dataclass(frozen=True)
class TokenPairs:
    """Tokenised pairs: pair i is row `query_rows[i]` of `queries` and `document_rows[i]` of
    `documents`, both together cut to `max_pair_tokens`, the longer text first.
    """

    queries: Tokens
    documents: Tokens
    query_rows: Ids
    document_rows: Ids
    max_pair_tokens: int | None = None

    def __len__(self) -> int:
        return len(self.query_rows)

    @cached_property
    def lengths(self) -> tuple[Ids, Ids]:
        """Numbers of query and of document tokens that are read, shape (pairs,) each."""
        query, document = self._whole_lengths
        if self.max_pair_tokens is None or not len(self):
            return query, document
        lengths = torch.from_numpy(query), torch.from_numpy(document)
        query_cut, document_cut = longest_first(*lengths, self.max_pair_tokens)
        return query_cut.numpy(), document_cut.numpy()

    @property
    def num_cut(self) -> Ids:
        """Number of tokens that each pair loses to `max_pair_tokens`, shape (pairs,)."""
        whole, read = np.add(*self._whole_lengths), np.add(*self.lengths)
        cut: Ids = whole - read
        return cut

    @property
    def truncation(self) -> Truncation:
        """Texts and tokens that were cut off; equal texts, and equal pairs, count once."""
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
        """Number of tokens of the distinct queries and of the document of every pair."""
        queries = self.queries.lengths[np.unique(self.query_rows)]
        return int(queries.sum() + self.documents.lengths[self.document_rows].sum())

    @property
    def _whole_lengths(self) -> tuple[Ids, Ids]:
        return self.queries.lengths[self.query_rows], self.documents.lengths[self.document_rows]

    def take(self, indices: Ids) -> "TokenPairs":
        """Return some of the pairs."""
        rows = self.query_rows[indices], self.document_rows[indices]
        return replace(self, query_rows=rows[0], document_rows=rows[1])

    def distinct(self) -> tuple["TokenPairs", Ids]:
        """Return the distinct pairs, and the index of each pair among them, shape (pairs,)."""
        keys = self.query_rows * len(self.documents.lengths) + self.document_rows
        _, first, index = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(keys):  # in their own order, which the caller may have chosen
            return self, np.arange(len(keys))
        return self.take(first), index

    def gather(self) -> PairBatch:
        """Return the tokens of the pairs, padded."""
        query, document = self.lengths
        return PairBatch(
            self.queries.gather(self.query_rows, query),
            self.documents.gather(self.document_rows, document),
        )


@dataclass(frozen=True)
class PairReader:
    """Turns pairs of texts into `TokenPairs`, within the length limits of a matcher."""

    tokenizer: Tokenizer
    max_query_length: int | None
    max_document_length: int | None
    max_pair_tokens: int | None
    device: torch.device

    def read(self, pairs: Sequence[TextPair]) -> TokenPairs:
        """Tokenise pairs of texts, each distinct text once."""
        require_pairs(pairs)
        queries, documents = [query for query, _ in pairs], [document for _, document in pairs]
        indices = np.arange(len(pairs))
        return self.prepare(queries, documents)(indices, indices)

    def prepare(
        self, queries: Sequence[str], documents: Sequence[str]
    ) -> Callable[[Ids, Ids], TokenPairs]:
        """Tokenise texts and return a function from query and document indices to pairs."""
        query_rows, query_tokens = self.read_texts(queries, "query")
        document_rows, document_tokens = self.read_texts(documents, "document")

        def pairs(query_indices: Ids, document_indices: Ids) -> TokenPairs:
            rows = query_rows[query_indices], document_rows[document_indices]
            return TokenPairs(query_tokens, document_tokens, *rows, self.max_pair_tokens)

        return pairs

    def read_texts(self, texts: Sequence[str], side: Side) -> tuple[Ids, Tokens]:
        """Tokenise each distinct text once; return each text's row, and the table of rows."""
        rows: dict[str, int] = {}
        row_of = [rows.setdefault(text, len(rows)) for text in texts]
        table = self.tokenizer.encode(list(rows), self._max_length(side))
        report_truncation(table.num_cut_texts, table.num_cut_tokens)
        return np.array(row_of, dtype=np.int64), table.to(self.device)

    def tokens(self, query: str, document: str) -> tuple[list[Token], list[Token]]:
        """Return the tokens of a pair that the model reads, with their positions in the texts."""
        texts: list[tuple[str, Side]] = [(query, "query"), (document, "document")]
        tokens = [self.tokenizer.tokens(text, self._max_length(side)) for text, side in texts]
        if self.max_pair_tokens is not None:
            tables = [self.tokenizer.encode([text], self._max_length(side)) for text, side in texts]
            only = np.zeros(1, dtype=np.int64)
            lengths = TokenPairs(tables[0], tables[1], only, only, self.max_pair_tokens).lengths
            for i, (table, length) in enumerate(zip(tables, lengths, strict=True)):
                # Where words are the tokens, larger ids are of subwords that continue a word.
                starts = table[0][: length[0]] < self.tokenizer.vocab_size
                tokens[i] = tokens[i][: int(starts.sum())]
        return tokens[0], tokens[1]

    def _max_length(self, side: Side) -> int | None:
        return self.max_query_length if side == "query" else self.max_document_length

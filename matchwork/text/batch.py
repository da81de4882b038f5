"""Batches of token ids with their masks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Ids = npt.NDArray[np.int64]
_POOL = 64  # batches sorted by length together: large to save padding, small enough to mix


def check_mask(ids: Tensor | None, mask: Tensor) -> None:
    """Raise an error unless `mask` is bool and of the shape of `ids`."""
    if ids is not None and ids.shape != mask.shape:
        raise ValueError(f"ids have shape {tuple(ids.shape)}, their mask {tuple(mask.shape)}")
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask is bool (True = real token), got {mask.dtype}")


@dataclass(frozen=True, slots=True)
class Sequences:
    """Padded token ids and their mask (bool, True = real token), both of shape (batch, length)."""

    ids: Tensor
    mask: Tensor

    def __post_init__(self) -> None:
        check_mask(self.ids, self.mask)

    @classmethod
    def pad(cls, rows: Sequence[Sequence[int] | Ids]) -> "Sequences":
        """Pad rows of token ids to the longest, which has at least one column."""
        table = TokenTable.from_rows(rows)
        return table.gather(np.arange(len(table)))

    @property
    def lengths(self) -> Tensor:
        """Number of real tokens per row."""
        return self.mask.sum(dim=-1)

    def __len__(self) -> int:
        return self.ids.shape[0]

    def shorten(self, lengths: Tensor) -> "Sequences":
        """Truncate every row to its length in `lengths`, shape (batch,); the width stays."""
        columns = torch.arange(self.mask.shape[1], device=self.mask.device)
        return Sequences(self.ids, self.mask & (columns < lengths.unsqueeze(1)))

    def to(self, device: torch.device | str) -> "Sequences":
        """Return a copy on another device."""
        return Sequences(*(part.to(device, non_blocking=True) for part in (self.ids, self.mask)))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """A batch of pairs: row i of `query` belongs to row i of `document`."""

    query: Sequences
    document: Sequences

    def __post_init__(self) -> None:
        if len(self.query) != len(self.document):
            raise ValueError(f"{len(self.query)} queries for {len(self.document)} documents")

    def __len__(self) -> int:
        return len(self.query)

    def to(self, device: torch.device | str) -> "PairBatch":
        """Return a copy on another device."""
        return PairBatch(self.query.to(device), self.document.to(device))


class TokenTable:
    """Many tokenised texts in one flat array: row i is `flat[starts[i]:starts[i + 1]]`.

    Args:
        flat: Token ids of all texts, shape (tokens,).
        starts: Where each row starts, and where the last one ends, shape (rows + 1,).
        num_cut: Tokens that a length limit cut off from each row, shape (rows,); default: none.
    """

    def __init__(self, flat: Ids, starts: Ids, num_cut: Ids | None = None) -> None:
        self.flat = flat
        self.starts = starts
        self.lengths: Ids = np.diff(starts)
        self.num_cut: Ids = np.zeros_like(self.lengths) if num_cut is None else num_cut

    @property
    def num_cut_texts(self) -> int:
        """Number of texts that were cut."""
        return int((self.num_cut > 0).sum())

    @property
    def num_cut_tokens(self) -> int:
        """Number of tokens that were cut off."""
        return int(self.num_cut.sum())

    @classmethod
    def from_rows(
        cls, rows: Sequence[Sequence[int] | Ids], max_length: int | None = None
    ) -> "TokenTable":
        """Collect rows of token ids, truncated to `max_length`, and count what that removes."""
        full = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        lengths = full if max_length is None else np.minimum(full, max_length)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        flat = np.empty(int(starts[-1]), dtype=np.int64)
        for row, start, length in zip(rows, starts.tolist(), lengths.tolist(), strict=False):
            flat[start : start + length] = row[:length]
        return cls(flat, starts, full - lengths)

    @classmethod
    def join(cls, tables: "Sequence[TokenTable]") -> "TokenTable":
        """Join tables into one; the counts of cut tokens are dropped."""
        starts = np.zeros(sum(map(len, tables)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate([table.lengths for table in tables]), out=starts[1:])
        return cls(np.concatenate([table.flat for table in tables]), starts)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> Ids:
        return self.flat[self.starts[row] : self.starts[row + 1]]

    def gather(self, rows: Ids, lengths: Ids | None = None) -> Sequences:
        """Return a padded batch of the chosen rows, with `lengths` tokens of each (or all)."""
        lengths = self.lengths[rows] if lengths is None else lengths
        columns = np.arange(max(1, int(lengths.max(initial=0))))
        mask = columns < lengths[:, None]
        positions = np.where(mask, self.starts[rows][:, None] + columns, 0)
        ids = np.where(mask, self.flat[positions], 0) if len(self.flat) else positions
        return Sequences(torch.from_numpy(ids), torch.from_numpy(mask))

    def to(self, device: torch.device | str) -> "TokenTable | DeviceTokens":
        """Return a table whose batches are gathered on the given device."""
        return self if torch.device(device).type == "cpu" else DeviceTokens(self, device)


class DeviceTokens:
    """The tensors of a token table on a device: only row indices are transferred per batch."""

    def __init__(self, table: TokenTable, device: torch.device | str) -> None:
        self.lengths = table.lengths  # on the host: no synchronisation to get a width
        self.num_cut = table.num_cut
        parts = (table.flat if len(table.flat) else np.zeros(1, np.int64), table.starts)
        self._flat, self._starts = (torch.from_numpy(part).to(device) for part in parts)

    def gather(self, rows: Ids, lengths: Ids | None = None) -> Sequences:
        """Return a padded batch of the chosen rows, see `TokenTable.gather`."""
        lengths = self.lengths[rows] if lengths is None else lengths
        device = self._flat.device
        chosen, ends = (torch.from_numpy(x).to(device, non_blocking=True) for x in (rows, lengths))
        columns = torch.arange(max(1, int(lengths.max(initial=0))), device=device)
        mask = columns < ends.unsqueeze(1)
        positions = self._starts[chosen].unsqueeze(1) + columns
        return Sequences(self._flat[positions.masked_fill_(~mask, 0)].masked_fill_(~mask, 0), mask)


def batches_by_length(
    query_lengths: Ids, document_lengths: Ids, max_tokens: int, max_pairs: int
) -> list[Ids]:
    """Return the indices of pairs of similar length as batches, so that there is little padding.

    The longest pairs come first, so that a lack of memory shows at once. `max_tokens` counts
    padding; a longer pair is a batch of its own.
    """
    longest_first = np.lexsort((-query_lengths, -document_lengths))
    queries, documents = query_lengths[longest_first], document_lengths[longest_first]
    batches, start = [], 0
    while start < len(longest_first):
        # Sorted by document length: the first document is the widest, any query may be.
        width = max(1, int(documents[start] + queries[start]))
        size = max(1, min(max_pairs, max_tokens // width))
        width = max(1, int(documents[start] + queries[start : start + size].max()))
        size = max(1, min(size, max_tokens // width))
        batches.append(longest_first[start : start + size])
        start += size
    return batches


def shuffled_buckets(lengths: Ids, batch_size: int, rng: np.random.Generator) -> list[Ids]:
    """Make random batches of texts of similar length: shuffle, sort pools, split, shuffle."""
    order = rng.permutation(len(lengths))
    pool = batch_size * _POOL
    batches: list[Ids] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[i : i + batch_size] for i in range(0, len(part), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def inverse_document_frequency(table: TokenTable, vocab_size: int) -> npt.NDArray[np.float64]:
    """Return `log((1 + N) / (1 + df)) + 1` for every known word of N texts, shape (vocab_size,).

    1 for a word in every text, largest for unseen words; ids from `vocab_size` on are ignored.
    """
    text_of = np.repeat(np.arange(len(table)), table.lengths)
    known = table.flat < vocab_size
    words = np.unique(text_of[known] * vocab_size + table.flat[known]) % vocab_size
    frequency = np.bincount(words, minlength=vocab_size)
    weights: npt.NDArray[np.float64] = np.log((1 + len(table)) / (1 + frequency)) + 1
    return weights

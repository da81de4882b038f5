"""Pairs of fewer texts: a transformer reads each text once, not once for every pair."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.models import MatchModel
from matchwork.text import batches_by_length
from matchwork.text.batch import DeviceTokens, Ids, TokenTable

Reader: TypeAlias = Callable[[Ids], Encoded]
"""Rows of a table of tokens to what `match` needs of their texts."""
_KEPT_BYTES = 1 << 30  # of vectors that stay while batches pass by


def batches_by_document(
    query_lengths: Ids, document_lengths: Ids, document_rows: Ids, max_tokens: int, max_pairs: int
) -> list[Ids]:
    """As `batches_by_length`, but pairs of one document stay together."""
    by_document = np.argsort(document_rows, kind="stable")
    # Of equal lengths, queries do not pull the pairs of a document apart.
    widest = np.full_like(query_lengths, query_lengths.max(initial=0))
    batches = batches_by_length(widest, document_lengths[by_document], max_tokens, max_pairs)
    return [by_document[batch] for batch in batches]


def read_before(
    read: Reader,
    rows: Ids,
    lengths: Ids,
    dim: int,
    limits: tuple[int, int],
    each: Callable[[Reader, list[Ids]], Iterable[Encoded]] = map,
) -> Reader:
    """A reader of these rows that has read them all by now, unless that takes much memory.

    `lengths` are the tokens of every row of the table, `dim` values each; `limits` the most
    tokens and texts that `read` is given, and `each` how it is given several.
    """
    distinct = np.unique(rows)
    sizes = lengths[distinct]
    num_bytes = 4 * dim * len(distinct) * (1 + int(sizes.max(initial=0)))
    if not len(distinct) or num_bytes > _KEPT_BYTES:
        return read
    batches = batches_by_length(np.zeros_like(sizes), sizes, *limits)
    kept = Encoded.concatenate(list(each(read, [distinct[batch] for batch in batches])))
    device = kept.mask.device
    kept = kept.take(torch.from_numpy(np.argsort(np.concatenate(batches))).to(device))
    columns = torch.arange(1, 1 + kept.mask.shape[1], device=device)
    ends = (kept.mask * columns).amax(dim=1).cpu().numpy()

    def look_up(chosen: Ids) -> Encoded:
        place = np.searchsorted(distinct, chosen)
        text = kept.take(torch.from_numpy(place).to(device))
        return text.cut(max(1, int(ends[place].max(initial=0))))

    return look_up


def encode_distinct(
    model: MatchModel, tokens: TokenTable | DeviceTokens, rows: Ids, device: torch.device
) -> Encoded:
    """What `match` needs of the texts in these rows, each encoded once."""
    distinct, place = np.unique(rows, return_inverse=True)
    encoded = model.condense(model.encode(tokens.gather(distinct).to(device)))
    return encoded.take(torch.from_numpy(place).to(device))

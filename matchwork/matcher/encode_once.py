"""Encode each text once where many pairs share it, instead of once per pair."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import torch

from matchwork.encode import Encoded
from matchwork.models import MatchModel
from matchwork.text import batches_by_length
from matchwork.text.batch import DeviceTokens, Ids, TokenTable

TextEncoder: TypeAlias = Callable[[Ids], Encoded]
"""Maps rows of a token table to encoded texts."""
_MAX_CACHED_BYTES = 1 << 30


def batches_by_document(
    query_lengths: Ids, document_lengths: Ids, document_rows: Ids, max_tokens: int, max_pairs: int
) -> list[Ids]:
    """Make batches like `batches_by_length`, but keep pairs of one document together."""
    by_document = np.argsort(document_rows, kind="stable")
    # With equal query lengths, pairs are sorted by document alone.
    widest = np.full_like(query_lengths, query_lengths.max(initial=0))
    batches = batches_by_length(widest, document_lengths[by_document], max_tokens, max_pairs)
    return [by_document[batch] for batch in batches]


def cached_encoder(
    encode: TextEncoder,
    rows: Ids,
    lengths: Ids,
    dim: int,
    limits: tuple[int, int],
    each: Callable[[TextEncoder, list[Ids]], Iterable[Encoded]] = map,
) -> TextEncoder:
    """Encode the distinct rows now and return a function that looks them up.

    If the vectors, of width `dim`, would take more than 1 GiB, return `encode` itself. `lengths`
    are the token counts of all rows of the table, `limits` the most tokens and texts per batch;
    `each` maps `encode` over batches, like `in_threads`.
    """
    distinct = np.unique(rows)
    sizes = lengths[distinct]
    num_bytes = 4 * dim * len(distinct) * (1 + int(sizes.max(initial=0)))
    if not len(distinct) or num_bytes > _MAX_CACHED_BYTES:
        return encode
    batches = batches_by_length(np.zeros_like(sizes), sizes, *limits)
    cache = Encoded.concatenate(list(each(encode, [distinct[batch] for batch in batches])))
    device = cache.mask.device
    cache = cache.take(torch.from_numpy(np.argsort(np.concatenate(batches))).to(device))
    columns = torch.arange(1, 1 + cache.mask.shape[1], device=device)
    ends = (cache.mask * columns).amax(dim=1).cpu().numpy()

    def look_up(chosen: Ids) -> Encoded:
        index = np.searchsorted(distinct, chosen)
        text = cache.take(torch.from_numpy(index).to(device))
        return text.cut(max(1, int(ends[index].max(initial=0))))

    return look_up


def encode_distinct(
    model: MatchModel, tokens: TokenTable | DeviceTokens, rows: Ids, device: torch.device
) -> Encoded:
    """Encode the texts in these rows, each distinct row once."""
    distinct, index = np.unique(rows, return_inverse=True)
    encoded = model.condense(model.encode(tokens.gather(distinct).to(device)))
    return encoded.take(torch.from_numpy(index).to(device))

"""Pairs of fewer texts: a transformer reads each text of a batch once, not once for every pair."""

import numpy as np
import torch

from matchwork.encode import Encoded, TransformerEncoder
from matchwork.models import MatchModel
from matchwork.text import batches_by_length
from matchwork.text.batch import DeviceTokens, Ids, TokenTable


def reads_once(model: MatchModel) -> bool:
    """Whether it is worth it: encoding is nearly all of the work, and knows no other text."""
    return model.encodes_apart and isinstance(model.encoder, TransformerEncoder)


def batches_by_document(
    query_lengths: Ids, document_lengths: Ids, document_rows: Ids, max_tokens: int, max_pairs: int
) -> list[Ids]:
    """As `batches_by_length`, but pairs of one document stay together."""
    by_document = np.argsort(document_rows, kind="stable")
    # Of equal lengths, queries do not pull the pairs of a document apart.
    widest = np.full_like(query_lengths, query_lengths.max(initial=0))
    batches = batches_by_length(widest, document_lengths[by_document], max_tokens, max_pairs)
    return [by_document[batch] for batch in batches]


def encode_distinct(
    model: MatchModel, tokens: TokenTable | DeviceTokens, rows: Ids, device: torch.device
) -> Encoded:
    """What `match` needs of the texts in these rows, each encoded once."""
    distinct, place = np.unique(rows, return_inverse=True)
    encoded = model.condense(model.encode(tokens.gather(distinct).to(device)))
    return encoded.take(torch.from_numpy(place).to(device))

"""How alike two words are."""

import torch
from torch import Tensor

from matchwork.encode import Encoded
from matchwork.interact.interaction import Interaction

EPSILON = 1e-8
_TINY = 1e-24  # under the root: keeps its gradient finite at zero without moving any value


def row_lengths(vectors: Tensor) -> Tensor:
    """Euclidean length of every vector; the gradient at a zero vector is zero."""
    if vectors.dtype in (torch.float16, torch.bfloat16):
        vectors = vectors.float()  # squares leave the range of 16 bits
    return (vectors * vectors).sum(dim=-1).clamp_min(_TINY).sqrt()


def cosine_table(left: Tensor, right: Tensor) -> Tensor:
    """`x.y / max(|x||y|, 1e-8)` for all rows x of `left`, y of `right`: a zero row gives 0."""
    scale = row_lengths(left).unsqueeze(-1) * row_lengths(right).unsqueeze(-2)
    return (left @ right.transpose(-1, -2)) / scale.clamp_min(EPSILON)


def cosine(query: Encoded, document: Encoded) -> Interaction:
    """Cosine similarity of every query word with every document word; 0 at padding."""
    mask = query.mask.unsqueeze(-1) & document.mask.unsqueeze(-2)
    return Interaction(cosine_table(query.vectors, document.vectors), mask)

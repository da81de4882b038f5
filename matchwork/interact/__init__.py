"""VECTORS x VECTORS -> INTERACTION: tables of query words against document words."""

from matchwork.interact.interaction import Evidence, Interaction, WordWeights
from matchwork.interact.masked import masked_max, masked_mean, masked_softmax
from matchwork.interact.similarity import cosine, cosine_table, row_lengths

__all__ = [
    "Evidence",
    "Interaction",
    "WordWeights",
    "cosine",
    "cosine_table",
    "masked_max",
    "masked_mean",
    "masked_softmax",
    "row_lengths",
]

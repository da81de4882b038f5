"""Vectors to interactions: tables of query words by document words, and operations on them."""

from matchwork.interact.interaction import (
    Codes,
    Evidence,
    Interaction,
    LazyEvidence,
    LazyMapping,
    WordWeights,
)
from matchwork.interact.masked import attend, masked_max, masked_mean, masked_softmax
from matchwork.interact.max_sim import MaxSim, max_sim
from matchwork.interact.precision import ScoreLayer
from matchwork.interact.similarity import cosine, cosine_table, row_lengths, same_words, unit_rows

__all__ = [
    "Codes",
    "Evidence",
    "Interaction",
    "LazyEvidence",
    "LazyMapping",
    "MaxSim",
    "ScoreLayer",
    "WordWeights",
    "attend",
    "cosine",
    "cosine_table",
    "masked_max",
    "masked_mean",
    "masked_softmax",
    "max_sim",
    "row_lengths",
    "same_words",
    "unit_rows",
]

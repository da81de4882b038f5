"""Relevance: scores of any range as numbers between 0 and 1, for clients that expect such."""

import numpy as np

from matchwork.rank.bm25 import BM25
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.types import Scorer, Scores


def relevance(scorer: Scorer, scores: Scores) -> Scores:
    """Map scores to [0, 1], keeping their order.

    A calibrated scorer gives probabilities. Without calibration the result only orders:
    `s / (1 + s)` for BM25, whose scores are never negative, and `(1 + s / (1 + |s|)) / 2` for
    others. Unlike a logistic function, both keep large scores apart.

    Args:
        scorer: What computed the scores; its `calibration`, if it has one, is used.
        scores: Scores, shape (documents,).
    """
    calibration = getattr(scorer, "calibration", None)
    if calibration is not None:
        probabilities: Scores = calibration.probability(scores)
        return probabilities
    bounded: Scores = scores / (1 + np.abs(scores))
    return bounded if isinstance(scorer, BM25 | CandidateBM25) else (1 + bounded) / 2

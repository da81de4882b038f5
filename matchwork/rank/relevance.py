"""Scores of any range as numbers between 0 and 1, for those who expect such."""

import numpy as np

from matchwork.rank.calibration import AnyCalibration
from matchwork.types import Scores


def relevance(
    scores: Scores, calibration: AnyCalibration | None = None, *, never_negative: bool = False
) -> Scores:
    """Scores between 0 and 1, in the same order: probabilities where there is a calibration.

    Else `(1 + s / (1 + |s|)) / 2`, and `s / (1 + s)` of scores that are never negative, as those
    of BM25: both rise with the score and, unlike a logistic function, keep large scores apart.
    """
    if calibration is not None:
        return calibration.probability(scores)
    bounded: Scores = scores / (1 + np.abs(scores))
    return bounded if never_negative else (1 + bounded) / 2

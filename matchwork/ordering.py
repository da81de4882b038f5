"""Sorting by score, with one rule for ties.

Highest score first. Equal scores are ordered against the system when judgements are known
(a tied non-relevant document goes first), by index otherwise. Evaluation always passes
judgements: files such as TrecQA's list positives first, so that a stable sort would be cheating.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError


def order(
    scores: npt.ArrayLike, grades: Sequence[int] | npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Return the indices of scores from best to worst; ties by `grades`, lower first, or index."""
    values = np.asarray(scores, dtype=np.float64)
    if np.isnan(values).any():
        index = int(np.flatnonzero(np.isnan(values))[0])
        raise DataError(f"score number {index} is not a number; a ranking needs finite scores")
    if grades is None:
        return np.argsort(-values, kind="stable")
    return np.lexsort((np.asarray(grades), -values))


def count_ties(scores: npt.ArrayLike) -> int:
    """Return how many items have the same score as another one."""
    _, counts = np.unique(np.asarray(scores, dtype=np.float64), return_counts=True)
    return int(counts[counts > 1].sum())

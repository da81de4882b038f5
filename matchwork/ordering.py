"""The one place that sorts, with the tie rule stated.

Highest score first. Equal scores are ordered against the system when judgements are known
(a tied non-relevant document goes first), by position otherwise. Evaluation always passes
judgements: files such as TrecQA's list positives first, where a stable sort would be cheating.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError


def order(
    scores: npt.ArrayLike, grades: Sequence[int] | npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Positions from best to worst; with `grades`, ties go to the lower grade first."""
    values = np.asarray(scores, dtype=np.float64)
    if np.isnan(values).any():
        position = int(np.flatnonzero(np.isnan(values))[0])
        raise DataError(f"score number {position} is not a number; a ranking needs finite scores")
    if grades is None:
        return np.argsort(-values, kind="stable")
    return np.lexsort((np.asarray(grades), -values))


def count_ties(scores: npt.ArrayLike) -> int:
    """How many items share their score with another one."""
    _, counts = np.unique(np.asarray(scores, dtype=np.float64), return_counts=True)
    return int(counts[counts > 1].sum())

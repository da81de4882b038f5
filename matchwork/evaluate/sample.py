"""What one measure says about every query, kept so that it can be resampled.

Every measure we have is a mean over groups of a ratio of sums over queries,
`mean_g( sum_i gain[i, g] / sum_i weight[i, g] )`. A plain mean has one group and weights of 1;
F1 divides twice the true positives by the predicted plus the actual ones; macro-F1 has one
group per class. One formula serves values, intervals and significance tests.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def ratio(gain: Floats, weight: Floats) -> Floats:
    """The mean over the last axis of gain / weight, where 0 / 0 is 0."""
    divided = np.divide(gain, weight, out=np.zeros_like(gain), where=weight > 0)
    return np.asarray(divided.mean(axis=-1))


@dataclass(frozen=True)
class Sample:
    """Gains and weights, both of shape (queries, groups)."""

    gain: Floats
    weight: Floats

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Sample":
        """The sample of a plain mean."""
        gain = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return cls(gain, np.ones_like(gain))

    @property
    def value(self) -> float:
        """The measure over all queries."""
        return float(ratio(self.gain.sum(axis=0), self.weight.sum(axis=0)))

    @property
    def per_query(self) -> Floats | None:
        """One value per query, or None for a measure that no single query has (F1)."""
        is_mean = self.gain.shape[1] == 1 and bool((self.weight == 1).all())
        return self.gain[:, 0] if is_mean else None

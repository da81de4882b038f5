"""What one measure says about every query, kept so that it can be resampled.

Every measure we have is a mean over groups of a ratio of sums over queries,
`mean_g( sum_i gain[i, g] / sum_i weight[i, g] )`. A plain mean has one group and weights of 1;
F1 divides twice the true positives by the predicted plus the actual ones; macro-F1 has one
group per class; macro-PR-F1 is the harmonic mean of two such means, precision and recall. One
formula serves values, intervals and significance tests.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def ratio(gain: Floats, weight: Floats, num_means: int = 1) -> Floats:
    """The mean over the last axis of gain / weight, where 0 / 0 is 0.

    With more `num_means`, the axis holds as many equal parts, whose harmonic mean is taken.
    """
    divided = np.divide(gain, weight, out=np.zeros_like(gain), where=weight > 0)
    if num_means == 1:
        return np.asarray(divided.mean(axis=-1))
    means = divided.reshape(*divided.shape[:-1], num_means, -1).mean(axis=-1)
    inverse = np.divide(1.0, means, out=np.full_like(means, np.inf), where=means > 0)
    return np.asarray(num_means / inverse.sum(axis=-1))


@dataclass(frozen=True)
class Sample:
    """Gains and weights, both of shape (queries, groups); the groups make `num_means` means."""

    gain: Floats
    weight: Floats
    num_means: int = 1

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Sample":
        """The sample of a plain mean."""
        gain = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return cls(gain, np.ones_like(gain))

    @property
    def value(self) -> float:
        """The measure over all queries."""
        return float(ratio(self.gain.sum(axis=0), self.weight.sum(axis=0), self.num_means))

    @property
    def per_query(self) -> Floats | None:
        """One value per query, or None for a measure that no single query has (F1)."""
        is_mean = self.gain.shape[1] == 1 and bool((self.weight == 1).all())
        return self.gain[:, 0] if is_mean else None

"""Samples: one measure's contribution of every query, so that queries can be resampled.

A measure is a mean over groups of a ratio of sums over queries,
`mean_g( sum_i gain[i, g] / sum_i weight[i, g] )`. A plain mean has one group and weights of 1;
F1 divides twice the true positives by the predicted plus the actual positives; macro-F1 has one
group per class; macro-PR-F1 is the harmonic mean of two such means, precision and recall. Values,
intervals and significance tests share this formula.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def ratio(gain: Floats, weight: Floats, num_means: int = 1) -> Floats:
    """Return the mean over the last axis of gain / weight, where 0 / 0 is 0.

    Args:
        gain: Shape (..., groups).
        weight: Shape (..., groups).
        num_means: Number of equal parts of the last axis; the harmonic mean of their means is
            returned.
    """
    divided = np.divide(gain, weight, out=np.zeros_like(gain), where=weight > 0)
    if num_means == 1:
        return np.asarray(divided.mean(axis=-1))
    means = divided.reshape(*divided.shape[:-1], num_means, -1).mean(axis=-1)
    inverse = np.divide(1.0, means, out=np.full_like(means, np.inf), where=means > 0)
    return np.asarray(num_means / inverse.sum(axis=-1))


@dataclass(frozen=True)
class Sample:
    """Contribution of every query to a measure.

    Args:
        gain: Shape (queries, groups).
        weight: Shape (queries, groups).
        num_means: Number of means of which the harmonic mean is taken; see `ratio`.
    """

    gain: Floats
    weight: Floats
    num_means: int = 1

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Sample":
        """Return the sample of a plain mean of one value per query."""
        gain = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return cls(gain, np.ones_like(gain))

    @property
    def value(self) -> float:
        """Value of the measure over all queries."""
        return float(ratio(self.gain.sum(axis=0), self.weight.sum(axis=0), self.num_means))

    @property
    def per_query(self) -> Floats | None:
        """One value per query; None for a measure that single queries do not have (F1)."""
        is_mean = self.gain.shape[1] == 1 and bool((self.weight == 1).all())
        return self.gain[:, 0] if is_mean else None


def as_sample(values: "Sample | npt.ArrayLike") -> Sample:
    """Return a sample as it is, and one value per query as the sample of their mean."""
    return values if isinstance(values, Sample) else Sample.of(values)

"""Samples: one measure's contribution of every query; intervals and tests resample the queries.

A measure is a mean over groups of a ratio of sums over queries,
`mean_g( sum_i gain[i, g] / sum_i weight[i, g] )`. A plain mean has one group and weights of 1;
F1 divides twice the true positives by the predicted plus the actual positives; macro-F1 has one
group per class; macro-PR-F1 is the harmonic mean of two such means, precision and recall. Values,
intervals and significance tests share this formula.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError

Floats = npt.NDArray[np.float64]
_CELLS = 2_000_000
"""Number of random numbers drawn at once, which bounds the memory of resampling."""


def ratio(gain: Floats, weight: Floats, num_means: int = 1) -> Floats:
    """Return the mean over the last axis (groups) of gain / weight, where 0 / 0 is 0.

    With several means it is the harmonic one of the means of equal parts of the axis.
    """
    divided = np.divide(gain, weight, out=np.zeros_like(gain), where=weight > 0)
    if num_means == 1:
        return np.asarray(divided.mean(axis=-1))
    means = divided.reshape(*divided.shape[:-1], num_means, -1).mean(axis=-1)
    inverse = np.divide(1.0, means, out=np.full_like(means, np.inf), where=means > 0)
    return np.asarray(num_means / inverse.sum(axis=-1))


@dataclass(frozen=True)
class Sample:
    """Contribution of every query to a measure; gain and weight have shape (queries, groups)."""

    gain: Floats
    weight: Floats
    num_means: int = 1  # of which the harmonic mean is taken; see `ratio`

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
        """Values per query; None for a measure that single queries do not have (F1)."""
        is_mean = self.gain.shape[1] == 1 and bool((self.weight == 1).all())
        return self.gain[:, 0] if is_mean else None


def as_sample(values: "Sample | npt.ArrayLike") -> Sample:
    """Return a sample as it is, and one value per query as the sample of their mean."""
    return values if isinstance(values, Sample) else Sample.of(values)


def _chunks(num_samples: int, num_queries: int) -> Iterator[int]:
    size = max(1, _CELLS // max(1, num_queries))
    for start in range(0, num_samples, size):
        yield min(size, num_samples - start)


def bootstrap_interval(
    sample: Sample, *, confidence: float = 0.95, num_samples: int = 2_000, seed: int = 0
) -> tuple[float, float]:
    """Return the bootstrap percentile interval of a measure.

    Args:
        sample: The measure's sample, over queries.
        confidence: Between 0 and 1.
        num_samples: Number of bootstrap samples of the queries.
        seed: Of the random numbers.
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence must lie between 0 and 1, got {confidence}; try 0.95")
    rng = np.random.default_rng(seed)
    num_queries = len(sample.gain)
    values: list[Floats] = []
    for size in _chunks(num_samples, num_queries * sample.gain.shape[1]):
        drawn = rng.integers(num_queries, size=(size, num_queries))
        sums = sample.gain[drawn].sum(axis=1), sample.weight[drawn].sum(axis=1)
        values.append(ratio(*sums, sample.num_means))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(values), [tail, 1 - tail])
    return float(low), float(high)


def permutation_test(
    sample: Sample, baseline: Sample, *, num_samples: int = 10_000, seed: int = 0
) -> float:
    """Return the two-sided p-value of a paired test that swaps the systems query by query.

    Args:
        sample: The measure's sample for the system.
        baseline: Its sample for the baseline, over the same queries.
        num_samples: Number of random permutations; all are tried if there are no more.
        seed: Of the random numbers.
    """
    gain, weight = sample.gain - baseline.gain, sample.weight - baseline.weight
    # Swapping equal results changes nothing: only the other queries are swapped.
    differs = np.flatnonzero((gain != 0).any(axis=1) | (weight != 0).any(axis=1))
    gain, weight = gain[differs], weight[differs]

    def difference(swapped: npt.NDArray[np.bool_]) -> Floats:
        moved_gain, moved_weight = swapped @ gain, swapped @ weight
        return ratio(
            sample.gain.sum(axis=0) - moved_gain,
            sample.weight.sum(axis=0) - moved_weight,
            sample.num_means,
        ) - ratio(
            baseline.gain.sum(axis=0) + moved_gain,
            baseline.weight.sum(axis=0) + moved_weight,
            sample.num_means,
        )

    # Sums in another order differ in their last digits.
    observed = abs(sample.value - baseline.value) - 1e-12
    if len(differs) < 60 and 2 ** len(differs) <= num_samples:
        codes = np.arange(2 ** len(differs))[:, None]
        swaps = (codes >> np.arange(len(differs)) & 1).astype(bool)
        return float(np.mean(np.abs(difference(swaps)) >= observed))
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(num_samples, len(differs)):
        swaps = rng.integers(2, size=(size, len(differs)), dtype=np.uint8).astype(bool)
        extreme += int(np.sum(np.abs(difference(swaps)) >= observed))
    return (extreme + 1) / (num_samples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm for making all these comparisons together."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        highest = max(highest, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted

"""Bootstrap intervals, paired permutation tests and Holm's correction."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError
from matchwork.evaluate.sample import Floats, Sample, ratio

_CELLS = 2_000_000
"""Number of random numbers drawn at once, which bounds the memory of resampling."""


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

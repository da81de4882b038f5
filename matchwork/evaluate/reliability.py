"""Reliability of probabilities: of pairs with probability 0.7, seven in ten should match."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError

NUM_BINS = 10


class ReliabilityBin(NamedTuple):
    """Number of pairs, their mean probability, and the share of them that match."""

    pairs: int
    probability: float
    matched: float


@dataclass(frozen=True)
class Reliability:
    """Two errors of probabilities, both 0 at best.

    Args:
        calibration_error: Expected calibration error: mean difference between the probability and
            the share of matches, over bins of equal size.
        brier: Mean squared error of the probabilities, which also rewards discrimination.
        bins: The bins behind the calibration error.
    """

    calibration_error: float
    brier: float
    bins: tuple[ReliabilityBin, ...]

    @property
    def num_pairs(self) -> int:
        """Number of probabilities."""
        return sum(each.pairs for each in self.bins)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "calibration_error": self.calibration_error,
            "brier": self.brier,
            "num_pairs": self.num_pairs,
            "bins": [each._asdict() for each in self.bins],
        }

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "Reliability":
        """Return the inverse of `to_dict`."""
        bins = tuple(ReliabilityBin(**each) for each in table["bins"])
        return cls(table["calibration_error"], table["brier"], bins)


def reliability(
    probabilities: npt.ArrayLike, matches: npt.ArrayLike, num_bins: int = NUM_BINS
) -> Reliability:
    """Compare probabilities with labels, in bins that hold equally many pairs.

    Args:
        probabilities: Shape (pairs,).
        matches: Whether each pair matches, shape (pairs,).
        num_bins: Number of bins; fewer if many probabilities are equal.
    """
    given, matched = np.asarray(probabilities, np.float64), np.asarray(matches, np.float64)
    if num_bins < 1:
        raise ConfigError(f"num_bins must be at least 1, got {num_bins}")
    if not len(given) or given.shape != matched.shape:
        raise DataError(f"{len(given)} probabilities for {len(matched)} labels; give one each")
    if not ((given >= 0) & (given <= 1)).all():
        position = int(np.flatnonzero(~((given >= 0) & (given <= 1)))[0])
        raise DataError(f"probability number {position} is {given[position]}, not within [0, 1]")
    ordered = np.sort(given)
    edges = ordered[np.arange(1, num_bins) * len(ordered) // num_bins]
    _, bins = np.unique(np.searchsorted(edges, given, side="right"), return_inverse=True)
    counts = np.bincount(bins)
    means, shares = (np.bincount(bins, values) / counts for values in (given, matched))
    return Reliability(
        calibration_error=float(counts @ np.abs(means - shares) / len(given)),
        brier=float(np.mean((given - matched) ** 2)),
        bins=tuple(
            ReliabilityBin(*row)
            for row in zip(counts.tolist(), means.tolist(), shares.tolist(), strict=True)
        ),
    )

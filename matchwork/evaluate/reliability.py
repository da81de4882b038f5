"""How far a probability means what it says: of pairs called 0.7, seven in ten should match."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError

NUM_BINS = 10


class ReliabilityBin(NamedTuple):
    """Pairs of similar probability: how many, what they were promised, how many matched."""

    pairs: int
    probability: float
    matched: float


@dataclass(frozen=True)
class Reliability:
    """Two errors of probabilities, both 0 at best, and the bins behind the first.

    `calibration_error` is the expected calibration error: the mean distance between promise and
    share of matches over bins of equal size. `brier` is the mean squared error of a probability,
    which also asks that it tells pairs apart.
    """

    calibration_error: float
    brier: float
    bins: tuple[ReliabilityBin, ...]

    @property
    def num_pairs(self) -> int:
        """How many probabilities were checked."""
        return sum(each.pairs for each in self.bins)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "calibration_error": self.calibration_error,
            "brier": self.brier,
            "num_pairs": self.num_pairs,
            "bins": [each._asdict() for each in self.bins],
        }

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "Reliability":
        """The inverse of `to_json`."""
        bins = tuple(ReliabilityBin(**each) for each in table["bins"])
        return cls(table["calibration_error"], table["brier"], bins)


def reliability(
    probabilities: npt.ArrayLike, matches: npt.ArrayLike, num_bins: int = NUM_BINS
) -> Reliability:
    """Compare probabilities with what was so, in bins that hold equally many pairs.

    Equal probabilities stay in one bin, so there may be fewer bins than asked for.
    """
    chances, happened = np.asarray(probabilities, np.float64), np.asarray(matches, np.float64)
    if num_bins < 1:
        raise ConfigError(f"num_bins must be at least 1, got {num_bins}")
    if not len(chances) or chances.shape != happened.shape:
        raise DataError(f"{len(chances)} probabilities for {len(happened)} labels; give one each")
    if not ((chances >= 0) & (chances <= 1)).all():
        position = int(np.flatnonzero(~((chances >= 0) & (chances <= 1)))[0])
        raise DataError(f"probability number {position} is {chances[position]}, not within [0, 1]")
    ranked = np.sort(chances)
    edges = ranked[np.arange(1, num_bins) * len(ranked) // num_bins]
    _, where = np.unique(np.searchsorted(edges, chances, side="right"), return_inverse=True)
    counts = np.bincount(where)
    promised, shares = (np.bincount(where, values) / counts for values in (chances, happened))
    return Reliability(
        calibration_error=float(counts @ np.abs(promised - shares) / len(chances)),
        brier=float(np.mean((chances - happened) ** 2)),
        bins=tuple(
            ReliabilityBin(*row)
            for row in zip(counts.tolist(), promised.tolist(), shares.tolist(), strict=True)
        ),
    )

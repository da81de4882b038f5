"""Fusion of two runs: `weight * second + (1 - weight) * first` of normalised scores.

Scores are min-max normalised per query: the best document of a query gets 1, its worst 0, and a
document that one run did not score 0.
"""

from collections.abc import Mapping

import numpy as np

from matchwork.errors import ConfigError
from matchwork.types import Run


def normalise(run: Run) -> Run:
    """Map the scores of each query onto [0, 1]; all 0 where they are equal."""
    return {query: _normalise(scores) for query, scores in run.items()}


def _normalise(scores: Mapping[str, float]) -> dict[str, float]:
    values = np.fromiter(scores.values(), np.float64, len(scores))
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    spread = high - low if high > low else 1.0
    return dict(zip(scores, ((values - low) / spread).tolist(), strict=True))


def mix(run: Run, other: Run, weight: float) -> Run:
    """Return `weight * run + (1 - weight) * other`; both must be normalised already."""
    mixed: Run = {}
    for query in {**run, **other}:
        ours, theirs = run.get(query, {}), other.get(query, {})
        mixed[query] = {
            document: weight * ours.get(document, 0.0) + (1 - weight) * theirs.get(document, 0.0)
            for document in {**ours, **theirs}
        }
    return mixed


def fuse(run: Run, other: Run, weight: float) -> Run:
    """Interpolate two runs.

    Args:
        run: Scores with share `weight`.
        other: Scores with share `1 - weight`.
        weight: Between 0 and 1.
    """
    check_weight(weight)
    return mix(normalise(run), normalise(other), weight)


def check_weight(weight: float) -> None:
    """Raise a `ConfigError` unless `weight` lies between 0 and 1."""
    if not 0 <= weight <= 1:
        raise ConfigError(f"weight must lie between 0 (first stage) and 1 (second), got {weight}")

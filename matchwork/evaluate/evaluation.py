"""`Evaluation`: the values of measures, over all queries and for each one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matchwork.errors import DataError
from matchwork.evaluate.measures import canonical
from matchwork.evaluate.sample import Sample, bootstrap_interval


@dataclass(frozen=True)
class Evaluation:
    """Values of measures: `evaluation["AP"]`, `.per_query["AP"]`, `.interval("AP")`.

    Args:
        samples: What every measure is computed from, by its canonical name.
        queries: Ids of the queries that count (of the items, for a classification or regression).
        protocol: Which queries count and how ties fall.
        num_dropped: Number of queries that the protocol leaves out.
        num_ties: Number of documents that share their score with another one of their query.
    """

    samples: Mapping[str, Sample]
    queries: tuple[str, ...]
    protocol: str
    num_dropped: int = 0
    num_ties: int = 0

    @property
    def num_queries(self) -> int:
        """Number of queries that count."""
        return len(self.queries)

    @cached_property
    def values(self) -> dict[str, float]:
        """Value of each measure over all queries."""
        return {measure: sample.value for measure, sample in self.samples.items()}

    @cached_property
    def per_query(self) -> dict[str, dict[str, float]]:
        """Values of each measure by query; F1 and macro-F1 have none and are left out."""
        return {
            measure: dict(zip(self.queries, values.tolist(), strict=True))
            for measure, sample in self.samples.items()
            if (values := sample.per_query) is not None
        }

    def sample(self, measure: str) -> Sample:
        """Return the per-query sample of a measure, under any spelling of its name."""
        name = canonical(measure)
        if name not in self.samples:
            raise DataError(f"{name!r} was not measured; there are {', '.join(self.samples)}")
        return self.samples[name]

    def __getitem__(self, measure: str) -> float:
        return self.sample(measure).value

    def interval(
        self, measure: str, confidence: float = 0.95, seed: int = 0
    ) -> tuple[float, float]:
        """Return a bootstrap confidence interval of a measure over the queries."""
        return bootstrap_interval(self.sample(measure), confidence=confidence, seed=seed)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return value and confidence interval (`ci`) of each measure, as plain values."""
        return {
            measure: {"value": value, "ci": list(self.interval(measure))}
            for measure, value in self.values.items()
        }

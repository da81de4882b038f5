"""Run x qrels -> numbers, with the tie rule and the protocol applied in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import ir_measures
import numpy as np

from matchwork.errors import DataError
from matchwork.evaluate.measures import canonical, ranking_measure
from matchwork.evaluate.protocol import TIES_BY_ID, kept_queries
from matchwork.evaluate.sample import Sample
from matchwork.evaluate.significance import bootstrap_interval
from matchwork.ordering import count_ties, order
from matchwork.types import Qrels, Run


@dataclass(frozen=True)
class Evaluation:
    """What came out: `evaluation["AP"]`, `.per_query["AP"]`, `.interval("AP")`.

    `queries` are the ids that counted (items, for a classification), `num_dropped` how many
    more the protocol left out, `num_ties` how many documents shared their score with another
    one of their query.
    """

    samples: Mapping[str, Sample]
    queries: tuple[str, ...]
    protocol: str
    num_dropped: int = 0
    num_ties: int = 0

    @property
    def num_queries(self) -> int:
        """How many queries the values are over."""
        return len(self.queries)

    @cached_property
    def values(self) -> dict[str, float]:
        """Measure -> value over all queries."""
        return {measure: sample.value for measure, sample in self.samples.items()}

    @cached_property
    def per_query(self) -> dict[str, dict[str, float]]:
        """Measure -> query -> value; F1 and macro-F1, which no single item has, are left out."""
        return {
            measure: dict(zip(self.queries, values.tolist(), strict=True))
            for measure, sample in self.samples.items()
            if (values := sample.per_query) is not None
        }

    def sample(self, measure: str) -> Sample:
        """What a measure says about every query."""
        name = canonical(measure)
        if name not in self.samples:
            raise DataError(f"{name!r} was not measured; there are {', '.join(self.samples)}")
        return self.samples[name]

    def __getitem__(self, measure: str) -> float:
        return self.sample(measure).value

    def interval(
        self, measure: str, confidence: float = 0.95, seed: int = 0
    ) -> tuple[float, float]:
        """A bootstrap confidence interval over the queries."""
        return bootstrap_interval(self.sample(measure), confidence=confidence, seed=seed)


def evaluate(
    run: Run, qrels: Qrels, measures: Sequence[str] = ("AP", "RR"), protocol: str = "raw"
) -> Evaluation:
    """Measure a run against the judgements, over the queries that `protocol` keeps.

    A judged query that the run leaves out counts 0, a ranked query that nobody judged is
    ignored, a document that nobody judged or that has a grade below 1 is not relevant.
    """
    parsed = [ranking_measure(name) for name in measures]
    queries = _checked_queries(run, qrels, protocol)
    judged = {query: qrels[query] for query in queries}
    ranked = {
        query: _strictly_ordered(query, run[query], judged[query], protocol in TIES_BY_ID)
        for query in queries
        if run.get(query)
    }
    values = {measure: dict.fromkeys(queries, 0.0) for measure in parsed}
    for result in ir_measures.iter_calc(parsed, judged, ranked):
        values[result.measure][result.query_id] = float(result.value)
    return Evaluation(
        samples={str(measure): Sample.of(list(values[measure].values())) for measure in parsed},
        queries=tuple(queries),
        protocol=protocol,
        num_dropped=len(qrels) - len(queries),
        num_ties=sum(count_ties(list(run[query].values())) for query in ranked),
    )


def _checked_queries(run: Run, qrels: Qrels, protocol: str) -> list[str]:
    if not qrels:
        raise DataError("there are no judgements to measure against; give at least one query")
    if run and not run.keys() & qrels.keys():
        raise DataError(
            f"no query of the run is judged: the run has {next(iter(run))!r}, the judgements "
            f"{next(iter(qrels))!r}; check that both name queries alike"
        )
    queries = kept_queries(protocol, run, qrels)
    if not queries:
        raise DataError(f"protocol {protocol!r} drops all {len(qrels)} queries; try 'raw'")
    return queries


def _strictly_ordered(
    query: str, scores: Mapping[str, float], grades: Mapping[str, int], ties_by_id: bool
) -> dict[str, float]:
    """Scores without ties, so that no back end decides: n, n - 1, ... in our order."""
    documents = sorted(scores, reverse=True) if ties_by_id else list(scores)
    # Without grades a tie keeps the order given, which is then that of descending ids.
    ties = None if ties_by_id else [grades.get(document, 0) for document in documents]
    try:
        positions = order([scores[document] for document in documents], ties)
    except DataError as error:
        raise DataError(f"query {query!r}: {error}") from error
    falling = np.arange(len(documents), 0, -1, dtype=np.float64).tolist()
    return dict(zip((documents[position] for position in positions), falling, strict=True))

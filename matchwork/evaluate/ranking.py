"""Ranking measures: a run and judgements become an `Evaluation`, with one rule for ties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures.base import MeanAgg
from ir_measures.measures.base import Measure as TrecMeasure

from matchwork.errors import DataError
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measures import MEASURES, Measure, MeasureKind, Options, parse_measures
from matchwork.evaluate.protocol import PROTOCOLS, counted_queries
from matchwork.evaluate.sample import Sample
from matchwork.ordering import count_ties, order
from matchwork.types import Qrels, Run


@dataclass(frozen=True)
class _TrecKind(MeasureKind):
    """A measure of trec_eval; ir-measures checks its options."""

    def make(self, name: str, options: Options) -> Measure:
        """Return the measure with these options."""
        cutoff = options.pop("cutoff", None)
        measure: Any = self.compute(**options) if options else self.compute
        if cutoff is not None:
            measure = measure @ cutoff
        measure.validate_params()
        return Measure(str(measure), "ranking", measure, options)


def _register_trec_measures() -> None:
    """Register every spelling of the measures that trec_eval averages over queries."""
    supported = {m.NAME for m in ir_measures.providers.registry["pytrec_eval"].SUPPORTED_MEASURES}
    for name, measure in ir_measures.measures.registry.items():
        if measure.NAME in supported and isinstance(measure.aggregator(), MeanAgg):
            MEASURES.add(name, _TrecKind("ranking", measure))


_register_trec_measures()


def evaluate_run(
    run: Run, qrels: Qrels, measures: Sequence[str] = ("AP", "RR"), protocol: str = "raw"
) -> Evaluation:
    """Measure a run against judgements.

    A judged query that is not in the run counts 0; a query without judgements is ignored; a
    document without a judgement or with a grade below 1 is not relevant.

    Args:
        run: Scores of documents by query.
        qrels: Grades of documents by query.
        measures: Names of ranking measures.
        protocol: Name in `PROTOCOLS`: which queries count, and how ties fall.
    """
    parsed = parse_measures(measures, "ranking")
    queries = _checked_queries(run, qrels, protocol)
    judged = {query: qrels[query] for query in queries}
    ranked = {
        query: _strictly_ordered(query, run[query], judged[query], PROTOCOLS[protocol].ties_by_id)
        for query in queries
        if run.get(query)
    }
    return Evaluation(
        samples={
            name: Sample.of(list(values.values()))
            for name, values in _values(parsed, queries, judged, ranked).items()
        },
        queries=tuple(queries),
        protocol=protocol,
        num_dropped=len(qrels) - len(queries),
        num_ties=sum(count_ties(list(run[query].values())) for query in ranked),
    )


def _values(
    measures: Sequence[Measure], queries: Sequence[str], judged: Qrels, ranked: Run
) -> dict[str, dict[str, float]]:
    """Values by measure and query, 0 for a query without a ranking; trec_eval runs once."""
    values = {measure.name: dict.fromkeys(queries, 0.0) for measure in measures}
    trec = {m.compute: m.name for m in measures if isinstance(m.compute, TrecMeasure)}
    for result in ir_measures.iter_calc(list(trec), judged, ranked) if trec else ():
        values[trec[result.measure]][result.query_id] = float(result.value)
    for measure in measures:
        if not isinstance(measure.compute, TrecMeasure):
            for query, documents in ranked.items():
                grades = [judged[query].get(document, 0) for document in documents]
                values[measure.name][query] = float(measure.compute(grades, judged[query]))
    return values


def _checked_queries(run: Run, qrels: Qrels, protocol: str) -> list[str]:
    if not qrels:
        raise DataError("there are no judgements to measure against; give at least one query")
    if run and not run.keys() & qrels.keys():
        raise DataError(
            f"no query of the run is judged: the run has {next(iter(run))!r}, the judgements "
            f"{next(iter(qrels))!r}; check that both name queries alike"
        )
    queries = counted_queries(protocol, run, qrels)
    if not queries:
        raise DataError(f"protocol {protocol!r} drops all {len(qrels)} queries; try 'raw'")
    return queries


def _strictly_ordered(
    query: str, scores: Mapping[str, float], grades: Mapping[str, int], ties_by_id: bool
) -> dict[str, float]:
    """Replace scores by n, n - 1, ... in our order, so that trec_eval meets no ties."""
    documents = sorted(scores, reverse=True) if ties_by_id else list(scores)
    # Without grades a tie keeps the order given, which is then that of descending ids.
    ties = None if ties_by_id else [grades.get(document, 0) for document in documents]
    try:
        positions = order([scores[document] for document in documents], ties)
    except DataError as error:
        raise DataError(f"query {query!r}: {error}") from error
    falling = np.arange(len(documents), 0, -1, dtype=np.float64).tolist()
    return dict(zip((documents[position] for position in positions), falling, strict=True))

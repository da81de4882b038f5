"""Queries in groups, and how well each system ranks each group."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

from matchwork.data import Split
from matchwork.errors import DataError
from matchwork.evaluate import Evaluation, bootstrap_interval, canonical, holm, permutation_test
from matchwork.evaluate.sample import Sample

Evaluations: TypeAlias = Mapping[str, Evaluation]
"""System -> its evaluation; one or two systems, measured on the same queries."""


class Estimate(NamedTuple):
    """A measure over the queries of a group, with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """First system minus second on one measure: paired permutation test.

    `p_holm` is corrected over the groups.
    """

    value: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class Group:
    """A group of queries, and how each system ranks them.

    `estimates` is system -> measure -> value, `differences` measure -> first system minus second.
    """

    label: str
    queries: tuple[str, ...] = field(repr=False)
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: Mapping[str, Difference]

    @property
    def num_queries(self) -> int:
        """Number of queries in the group."""
        return len(self.queries)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "group": self.label,
            "num_queries": self.num_queries,
            "systems": {
                system: {
                    measure: {"value": one.value, "ci": [one.low, one.high]}
                    for measure, one in measures.items()
                }
                for system, measures in self.estimates.items()
            },
            "differences": {measure: one._asdict() for measure, one in self.differences.items()},
            "queries": list(self.queries),
        }


@dataclass(frozen=True)
class Grouping:
    """All groups of an analysis; queries without a relevant document are in none."""

    groups: tuple[Group, ...]
    num_without_relevant: int

    @property
    def num_queries(self) -> int:
        """Number of queries in all groups."""
        return sum(group.num_queries for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        groups = [group.to_dict() for group in self.groups]
        return {"num_queries": self.num_queries, **own, "groups": groups}


def relevant_texts(split: Split, evaluations: Evaluations) -> dict[str, list[str]]:
    """Return query -> texts of its relevant documents, for all measured queries that have any."""
    texts = {
        query: [
            split.documents[document]
            for document, grade in split.qrels.get(query, {}).items()
            if grade > 0 and document in split.documents
        ]
        for query in _shared_queries(evaluations)
        if query in split.queries
    }
    found = {query: documents for query, documents in texts.items() if documents}
    if not found:
        raise DataError(
            f"no query of split {split.name!r} has a relevant document with a text; "
            "there is no pair to analyse"
        )
    return found


def _shared_queries(evaluations: Evaluations) -> tuple[str, ...]:
    (name, first), *others = evaluations.items()
    for other, evaluation in others:
        if evaluation.queries != first.queries:
            raise DataError(
                f"{name!r} was measured on {first.num_queries} queries, {other!r} on "
                f"{evaluation.num_queries}, not on the same ones; measure both on one split"
            )
    return first.queries


def measure_groups(
    members: Mapping[str, Sequence[str]],
    evaluations: Evaluations,
    measures: Iterable[str],
    seed: int = 0,
) -> tuple[Group, ...]:
    """Measure every system on every group of queries, given as group -> ids of its queries."""
    names = [canonical(measure) for measure in measures]
    differences = {measure: _differences(members, evaluations, measure, seed) for measure in names}
    return tuple(
        Group(
            label,
            tuple(queries),
            {
                system: {
                    measure: _estimate(_sample(evaluation, measure, queries), seed)
                    for measure in names
                    if queries
                }
                for system, evaluation in evaluations.items()
            },
            {measure: found[label] for measure, found in differences.items() if label in found},
        )
        for label, queries in members.items()
    )


def _differences(
    members: Mapping[str, Sequence[str]], evaluations: Evaluations, measure: str, seed: int
) -> dict[str, Difference]:
    """Return group -> difference of the two systems; nothing for one system."""
    if len(evaluations) != 2:
        return {}
    values, p_values = {}, []
    for label, queries in members.items():
        if queries:
            ours, theirs = (_sample(e, measure, queries) for e in evaluations.values())
            values[label] = ours.value - theirs.value
            p_values.append(permutation_test(ours, theirs, seed=seed))
    corrected = holm(p_values)
    return {
        label: Difference(value, p, p_holm)
        for (label, value), p, p_holm in zip(values.items(), p_values, corrected, strict=True)
    }


def _sample(evaluation: Evaluation, measure: str, queries: Sequence[str]) -> Sample:
    evaluation.sample(measure)  # a measure that was not taken is an error that says so
    by_query = evaluation.per_query[measure]
    return Sample.of([by_query[query] for query in queries])


def _estimate(sample: Sample, seed: int) -> Estimate:
    return Estimate(sample.value, *bootstrap_interval(sample, seed=seed))

"""Compare a system with a baseline, query by query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matchwork.errors import DataError
from matchwork.evaluate.evaluation import Evaluation
from matchwork.evaluate.measures import canonical, gain
from matchwork.evaluate.sample import holm, permutation_test


@dataclass(frozen=True)
class Comparison:
    """One system and one baseline on one measure.

    Args:
        measure: Canonical name of the measure.
        value: Value of the system.
        baseline: Value of the baseline.
        p_value: Of the paired permutation test.
        adjusted_p: p-value with Holm's correction over all comparisons made together.
        changes: Difference of each query, largest gain first; empty for F1 and macro-F1, which
            single items do not have.
    """

    measure: str
    value: float
    baseline: float
    p_value: float
    adjusted_p: float
    changes: dict[str, float] = field(repr=False)

    @property
    def difference(self) -> float:
        """Value minus baseline; negative is better for an error."""
        return self.value - self.baseline

    @property
    def wins(self) -> int:
        """Number of queries on which the system is better."""
        return sum(gain(self.measure, change) > 0 for change in self.changes.values())

    @property
    def losses(self) -> int:
        """Number of queries on which the baseline is better."""
        return sum(gain(self.measure, change) < 0 for change in self.changes.values())

    @property
    def ties(self) -> int:
        """Number of queries on which both are equal."""
        return len(self.changes) - self.wins - self.losses

    def biggest_wins(self, top_k: int = 5) -> list[tuple[str, float]]:
        """Return the queries that gained most, with their change."""
        return [item for item in self.changes.items() if gain(self.measure, item[1]) > 0][:top_k]

    def biggest_losses(self, top_k: int = 5) -> list[tuple[str, float]]:
        """Return the queries that lost most, with their change."""
        worst_first = reversed(self.changes.items())
        return [item for item in worst_first if gain(self.measure, item[1]) < 0][:top_k]

    def to_dict(self, top_k: int = 5) -> dict[str, Any]:
        """Return plain values, with the `top_k` biggest wins and losses."""
        return {
            "baseline": self.baseline,
            "value": self.value,
            "difference": self.difference,
            "p": self.p_value,
            "p_holm": self.adjusted_p,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "biggest_wins": dict(self.biggest_wins(top_k)),
            "biggest_losses": dict(self.biggest_losses(top_k)),
        }


def compare(
    system: Evaluation, baseline: Evaluation, measures: Sequence[str] | None = None
) -> dict[str, Comparison]:
    """Compare a system with a baseline by measure; p-values are corrected over the measures.

    Args:
        system: Evaluation of the system.
        baseline: Evaluation of the baseline on the same queries.
        measures: Names; all measures of the baseline by default.
    """
    return compare_all({"system": system}, baseline, measures)["system"]


def compare_all(
    systems: Mapping[str, Evaluation], baseline: Evaluation, measures: Sequence[str] | None = None
) -> dict[str, dict[str, Comparison]]:
    """Compare several systems with one baseline; p-values are corrected over all comparisons."""
    names = [canonical(name) for name in measures] if measures else list(baseline.samples)
    for system, evaluation in systems.items():
        if evaluation.queries != baseline.queries:
            unshared = sorted(set(evaluation.queries) ^ set(baseline.queries))
            example = f" (for one, {unshared[0]!r})" if unshared else ""
            raise DataError(
                f"{system!r} was measured on {evaluation.num_queries} queries "
                f"({evaluation.protocol}), the baseline on {baseline.num_queries} "
                f"({baseline.protocol}), not on the same ones{example}; a paired test needs equal "
                "queries"
            )
    pairs = [(system, measure) for system in systems for measure in names]
    p_values = [
        permutation_test(systems[system].sample(measure), baseline.sample(measure))
        for system, measure in pairs
    ]
    compared: dict[str, dict[str, Comparison]] = {system: {} for system in systems}
    for (system, measure), p_value, adjusted_p in zip(pairs, p_values, holm(p_values), strict=True):
        compared[system][measure] = Comparison(
            measure=measure,
            value=systems[system][measure],
            baseline=baseline[measure],
            p_value=p_value,
            adjusted_p=adjusted_p,
            changes=_changes(measure, systems[system], baseline),
        )
    return compared


def _changes(measure: str, system: Evaluation, baseline: Evaluation) -> dict[str, float]:
    before = baseline.per_query.get(measure, {})
    after = system.per_query.get(measure, {})
    changes = {query: after[query] - value for query, value in before.items()}
    return dict(sorted(changes.items(), key=lambda change: (-gain(measure, change[1]), change[0])))

"""System against baseline, query by query: how much, how sure, where it won and where it lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matchwork.errors import DataError
from matchwork.evaluate.evaluate import Evaluation
from matchwork.evaluate.measures import canonical, gain
from matchwork.evaluate.significance import holm, permutation_test


@dataclass(frozen=True)
class Comparison:
    """One system and one baseline on one measure.

    `changes` are the differences per query, largest gain first (empty for F1 and macro-F1,
    which no single item has). `adjusted_p` is corrected over all the comparisons made together.
    """

    measure: str
    value: float
    baseline: float
    p_value: float
    adjusted_p: float
    changes: dict[str, float] = field(repr=False)

    @property
    def difference(self) -> float:
        """How much more than the baseline; of an error, less is better."""
        return self.value - self.baseline

    @property
    def wins(self) -> int:
        """Queries on which the system is better."""
        return sum(gain(self.measure, change) > 0 for change in self.changes.values())

    @property
    def losses(self) -> int:
        """Queries on which the baseline is better."""
        return sum(gain(self.measure, change) < 0 for change in self.changes.values())

    @property
    def ties(self) -> int:
        """Queries on which both are equal."""
        return len(self.changes) - self.wins - self.losses

    def biggest_wins(self, num: int = 5) -> list[tuple[str, float]]:
        """The queries that gained most, with their change."""
        return [item for item in self.changes.items() if gain(self.measure, item[1]) > 0][:num]

    def biggest_losses(self, num: int = 5) -> list[tuple[str, float]]:
        """The queries that lost most, with their change."""
        worst_first = reversed(self.changes.items())
        return [item for item in worst_first if gain(self.measure, item[1]) < 0][:num]


def compare(
    system: Evaluation,
    baseline: Evaluation,
    measures: Sequence[str] | None = None,
    *,
    num_samples: int = 10_000,
    seed: int = 0,
) -> dict[str, Comparison]:
    """Measure -> comparison, corrected over the measures; all that were measured by default."""
    return compare_all({"system": system}, baseline, measures, num_samples=num_samples, seed=seed)[
        "system"
    ]


def compare_all(
    systems: Mapping[str, Evaluation],
    baseline: Evaluation,
    measures: Sequence[str] | None = None,
    *,
    num_samples: int = 10_000,
    seed: int = 0,
) -> dict[str, dict[str, Comparison]]:
    """System -> measure -> comparison with one baseline, corrected over all of them."""
    names = [canonical(name) for name in measures] if measures else list(baseline.samples)
    for system, evaluation in systems.items():
        if evaluation.queries != baseline.queries:
            raise DataError(_unequal(system, evaluation, baseline))
    pairs = [(system, measure) for system in systems for measure in names]
    p_values = [
        permutation_test(
            systems[system].sample(measure),
            baseline.sample(measure),
            num_samples=num_samples,
            seed=seed,
        )
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


def _unequal(system: str, evaluation: Evaluation, baseline: Evaluation) -> str:
    unshared = sorted(set(evaluation.queries) ^ set(baseline.queries))
    example = f" (for one, {unshared[0]!r})" if unshared else ""
    return (
        f"{system!r} was measured on {evaluation.num_queries} queries ({evaluation.protocol}), "
        f"the baseline on {baseline.num_queries} ({baseline.protocol}), not on the same "
        f"ones{example}; a paired test needs equal queries"
    )


def _changes(measure: str, system: Evaluation, baseline: Evaluation) -> dict[str, float]:
    before = baseline.per_query.get(measure, {})
    after = system.per_query.get(measure, {})
    changes = {query: after[query] - value for query, value in before.items()}
    return dict(sorted(changes.items(), key=lambda change: (-gain(measure, change[1]), change[0])))

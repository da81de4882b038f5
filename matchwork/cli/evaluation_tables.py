"""Tables of measures, as `matchwork evaluate` prints them and its report shows them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matchwork.report.numbers import MISSING, interval, p_value, signed

if TYPE_CHECKING:
    from matchwork.evaluate import Comparison, Evaluation, Reliability


def evaluation_rows(
    evaluations: "Mapping[str, Evaluation]",
    comparisons: "Mapping[str, Mapping[str, Comparison]]",
) -> list[list[str]]:
    """Return a row per measure and system: value, interval, and the comparison with BM25 if any."""
    rows = []
    for measure in next(iter(evaluations.values())).values:
        for name, evaluation in evaluations.items():
            row = [
                measure,
                name,
                f"{evaluation[measure]:.4f}",
                interval(*evaluation.interval(measure)),
            ]
            if comparisons:
                row += _against(comparisons[name][measure]) if name in comparisons else [""] * 3
            rows.append(row)
    return rows


def evaluation_header(with_baseline: bool) -> list[str]:
    """Return the header of `evaluation_rows`."""
    against = ["change", "p", "won/lost"]
    return ["measure", "system", "value", "95 % interval", *(against if with_baseline else [])]


def conditions(evaluations: "Mapping[str, Evaluation]") -> str:
    """Return what the numbers are over: queries, protocol and ties."""
    from matchwork.evaluate import PROTOCOLS, task_of

    first = next(iter(evaluations.values()))
    if task_of(next(iter(first.values))) != "ranking":
        return f"{first.num_queries:,} pairs"
    ties = ", ".join(f"{name} {one.num_ties:,}" for name, one in evaluations.items())
    rule = "sorted by id" if PROTOCOLS[first.protocol].ties_by_id else "counted against the system"
    return (
        f"{first.num_queries:,} queries, protocol {first.protocol} "
        f"({first.num_dropped:,} dropped); tied documents, {rule}: {ties}"
    )


def reliability_line(reliability: "Reliability") -> str:
    """Return the reliability of probabilities in a sentence."""
    return (
        f"Probabilities of {reliability.num_pairs:,} pairs: calibration error "
        f"{reliability.calibration_error:.4f} over {len(reliability.bins)} bins of equal size, "
        f"Brier score {reliability.brier:.4f}"
    )


def _against(comparison: "Comparison") -> list[str]:
    return [
        signed(comparison.difference),
        p_value(comparison.adjusted_p),
        wins_and_losses(comparison),
    ]


def wins_and_losses(comparison: "Comparison") -> str:
    """Return how many queries were won and lost; F1 has no queries to count."""
    return f"{comparison.wins}/{comparison.losses}" if comparison.changes else MISSING

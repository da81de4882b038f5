"""`matchwork compare`: is one run better than another, and on which queries?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.options import Json, Measures, Protocol, examples, listed

if TYPE_CHECKING:
    from matchwork.evaluate import Comparison

EXAMPLES = examples(
    "matchwork compare bm25.run mine.run --qrels test.qrels",
    "matchwork compare bm25.run mine.run --qrels test.qrels --measures AP,nDCG@10 --json",
)


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="TREC run of the baseline.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="TREC run that should be better.")],
    qrels: Annotated[Path, typer.Option(help="TREC judgements.")],
    measures: Measures = None,
    protocol: Protocol = None,
    limit: Annotated[int, typer.Option(min=0, help="Biggest wins and losses to list.")] = 5,
    json: Json = False,
) -> None:
    """Compare RUN_B with RUN_A, query by query, with a paired permutation test."""
    with show.working("comparing"):
        from matchwork.data import read_qrels, read_run
        from matchwork.evaluate import compare as compare_evaluations
        from matchwork.evaluate import evaluate

        judged, names, rule = read_qrels(qrels), listed(measures) or ["AP", "RR"], protocol or "raw"
        baseline = evaluate(read_run(run_a), judged, names, rule)
        system = evaluate(read_run(run_b), judged, names, rule)
        found = compare_evaluations(system, baseline)
    if json:
        show.as_json(
            {
                "baseline": str(run_a),
                "system": str(run_b),
                "protocol": rule,
                "num_queries": system.num_queries,
                "num_dropped": system.num_dropped,
                "measures": {name: describe(one, limit) for name, one in found.items()},
            }
        )
        return
    note = (
        f"{system.num_queries:,} queries, protocol {rule} ({system.num_dropped:,} dropped); "
        "p: paired permutation test, Holm-corrected over the measures"
    )
    _print_comparisons(found, _labels(run_a, run_b), note)
    for comparison in found.values():
        _print_changes(comparison, limit)


def describe(comparison: "Comparison", limit: int = 5) -> dict[str, Any]:
    """A comparison as plain values."""
    return {
        "baseline": comparison.baseline,
        "value": comparison.value,
        "difference": comparison.difference,
        "p": comparison.p_value,
        "p_holm": comparison.adjusted_p,
        "wins": comparison.wins,
        "losses": comparison.losses,
        "ties": comparison.ties,
        "biggest_wins": dict(comparison.biggest_wins(limit)),
        "biggest_losses": dict(comparison.biggest_losses(limit)),
    }


def outcome(comparison: "Comparison") -> str:
    """How many queries were won, lost and equal; F1 has no queries to count."""
    if not comparison.changes:
        return show.MISSING
    return f"{comparison.wins}/{comparison.losses}"


def _labels(run_a: Path, run_b: Path) -> tuple[str, str]:
    """File names, or A and B where they are the same (`seed-1/test.run`, `seed-2/test.run`)."""
    return (run_a.name, run_b.name) if run_a.name != run_b.name else ("A", "B")


def _print_comparisons(
    comparisons: Mapping[str, "Comparison"], names: tuple[str, str], note: str
) -> None:
    """One line a measure: both means, their difference and how sure it is."""
    rows: list[list[show.Cell]] = [
        [
            measure,
            one.baseline,
            one.value,
            show.signed(one.difference),
            show.p_value(one.p_value),
            show.p_value(one.adjusted_p),
            outcome(one),
        ]
        for measure, one in comparisons.items()
    ]
    header = ["measure", *names, "change", "p", "Holm p", "won/lost"]
    show.table(header, rows, note=note)


def _print_changes(comparison: "Comparison", limit: int) -> None:
    wins, losses = comparison.biggest_wins(limit), comparison.biggest_losses(limit)
    if wins or losses:
        rows = [[query, show.signed(change)] for query, change in (*wins, *reversed(losses))]
        show.table(["query", comparison.measure], rows, title="biggest wins and losses")

"""`matchwork results` and `matchwork compare`: results side by side, and two runs by query."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.evaluate import wins_and_losses
from matchwork.cli.options import Json, Measures, Protocol, examples, listed
from matchwork.errors import DataError
from matchwork.report.numbers import Cell, p_value, signed

if TYPE_CHECKING:
    from matchwork.evaluate import Comparison

COMPARE_EXAMPLES = examples(
    "matchwork compare bm25.run mine.run --qrels test.qrels",
    "matchwork compare bm25.run mine.run --qrels test.qrels --measures AP,nDCG@10 --json",
)
RESULTS_EXAMPLES = examples(
    "matchwork results", "matchwork results --write", "matchwork results --json"
)


def results(
    results: Annotated[Path, typer.Option(help="Folder of the result files.")] = Path("results"),
    write: Annotated[
        bool, typer.Option("--write", help="Write a page README.md with charts into that folder.")
    ] = False,
    json: Json = False,
) -> None:
    """Print a table of all results, or write a page with charts."""
    with show.working("reading results"):
        from matchwork.experiment import load_results, results_table, write_results_page
        from matchwork.experiment.results import without_queries

        loaded = load_results(results)
    if not loaded:
        raise DataError(
            "no results here; train some with matchwork train RECIPE.toml, or name another folder "
            "with --results",
            path=results,
        )
    page = write_results_page(results) if write else None
    if json:
        show.as_json([without_queries(one) for one in loaded])
        return
    from rich.markdown import Markdown

    show.out().print(Markdown(results_table(loaded)))
    if page is not None:
        show.line(f"written  {page}")


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="TREC run file of the baseline.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="TREC run file of the system.")],
    qrels: Annotated[Path, typer.Option(help="TREC judgements.")],
    measures: Measures = None,
    protocol: Protocol = None,
    top_k: Annotated[int, typer.Option(min=0, help="Number of biggest wins and losses.")] = 5,
    json: Json = False,
) -> None:
    """Compare RUN_B with RUN_A, query by query, by a paired permutation test."""
    with show.working("comparing"):
        from matchwork.data import read_qrels, read_run
        from matchwork.evaluate import compare as compare_evaluations
        from matchwork.evaluate import evaluate_run

        judged, names, rule = read_qrels(qrels), listed(measures) or ["AP", "RR"], protocol or "raw"
        baseline = evaluate_run(read_run(run_a), judged, names, rule)
        system = evaluate_run(read_run(run_b), judged, names, rule)
        comparisons = compare_evaluations(system, baseline)
    if json:
        show.as_json(
            {
                "baseline": str(run_a),
                "system": str(run_b),
                "protocol": rule,
                "num_queries": system.num_queries,
                "num_dropped": system.num_dropped,
                "measures": {name: one.to_dict(top_k) for name, one in comparisons.items()},
            }
        )
        return
    note = (
        f"{system.num_queries:,} queries, protocol {rule} ({system.num_dropped:,} dropped); "
        "p: paired permutation test, Holm-corrected over the measures"
    )
    _print_comparisons(comparisons, _labels(run_a, run_b), note)
    for comparison in comparisons.values():
        _print_changes(comparison, top_k)


def _labels(run_a: Path, run_b: Path) -> tuple[str, str]:
    """File names, or A and B if these are equal (`seed-1/test.run`, `seed-2/test.run`)."""
    return (run_a.name, run_b.name) if run_a.name != run_b.name else ("A", "B")


def _print_comparisons(
    comparisons: Mapping[str, "Comparison"], names: tuple[str, str], note: str
) -> None:
    """Return a row per measure: both means, their difference and the p-values."""
    rows: list[list[Cell]] = [
        [
            measure,
            one.baseline,
            one.value,
            signed(one.difference),
            p_value(one.p_value),
            p_value(one.adjusted_p),
            wins_and_losses(one),
        ]
        for measure, one in comparisons.items()
    ]
    header = ["measure", *names, "change", "p", "Holm p", "won/lost"]
    show.table(header, rows, note=note)


def _print_changes(comparison: "Comparison", top_k: int) -> None:
    wins, losses = comparison.biggest_wins(top_k), comparison.biggest_losses(top_k)
    if wins or losses:
        rows = [[query, signed(change)] for query, change in (*wins, *reversed(losses))]
        show.table(["query", comparison.measure], rows, title="biggest wins and losses")

"""`matchwork evaluate`: measure a matcher on a data set, or a TREC run against judgements."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import matchwork
from matchwork.cli import show
from matchwork.cli.options import (
    DATASET_HELP,
    MATCHER_HELP,
    ColumnNames,
    DataOptions,
    DataRoot,
    Depth,
    Json,
    Measures,
    Precision,
    Protocol,
    data_options,
    examples,
    listed,
    read_columns,
)
from matchwork.errors import ConfigError
from matchwork.report.numbers import MISSING, Cell, interval, p_value, signed

if TYPE_CHECKING:
    from matchwork.evaluate import Comparison, Evaluation, Reliability
    from matchwork.evaluate.benchmark import BenchmarkResult
    from matchwork.matcher import Matcher
    from matchwork.report.page import Section

_EXAMPLES = 8  # number of queries in each table of wins and losses
EXAMPLES = examples(
    "matchwork evaluate bm25 trecqa --split test-clean",
    "matchwork evaluate MATCHER wikiqa --measures AP,RR,P@1 --report report.html",
    "matchwork evaluate MATCHER pubmed --depth 100 --weight 0.3 --run-out fused.run",
    "matchwork evaluate --run mine.run --qrels test.qrels --measures nDCG@10",
)


def evaluate(
    matcher: Annotated[
        str | None, typer.Argument(help=MATCHER_HELP, metavar="MATCHER", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Argument(help=DATASET_HELP, metavar="DATASET", show_default=False)
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="TREC run file (with --qrels, instead of MATCHER and DATASET).", show_default=False
        ),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="TREC judgements of --run.", show_default=False)
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the data set.")] = "test",
    measures: Measures = None,
    protocol: Protocol = None,
    depth: Depth = 100,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Also fuse with BM25, giving the matcher this weight.",
            show_default=False,
        ),
    ] = None,
    run_out: Annotated[
        Path | None, typer.Option(help="Write the ranking to a TREC run file.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help="Write an HTML page with charts.", show_default=False
        ),
    ] = None,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    precision: Precision = "32",
    json: Json = False,
) -> None:
    """Measure a matcher against BM25, with confidence intervals and significance tests."""
    if run is not None or qrels is not None:
        if run is None or qrels is None or matcher is not None:
            raise ConfigError("--run and --qrels go together, and without MATCHER and DATASET")
        _evaluate_files(run, qrels, listed(measures), protocol, json)
        return
    if matcher is None or dataset is None:
        raise ConfigError("name a MATCHER and a DATASET, or give --run and --qrels")
    with show.working("loading"):
        from matchwork.cli.progress import stage
        from matchwork.data import write_run
        from matchwork.evaluate.benchmark import Benchmark
        from matchwork.matcher.opening import is_bm25
    benchmark = Benchmark(
        dataset=dataset,
        split=split,
        measures=listed(measures),
        protocol=protocol,
        depth=depth,
        data_root=data_root,
        columns=read_columns(columns),
        options=data_options(option),
    )
    with show.working(f"opening {matcher}"):
        scorer = None if is_bm25(matcher) else matchwork.load(matcher, precision=precision)
    with show.cuts():
        result = benchmark.run(scorer, weight=weight, stage=stage)
    if run_out is not None:
        write_run(run_out, result.runs[result.system], tag=result.system.replace(" ", ""))
    if report is not None:
        from matchwork.report.page import write_report

        with show.working("drawing the report"):
            title = f"{result.system} on {dataset}, split {split}"
            write_report(report, title, _sections(result))
    if json:
        show.as_json(result.to_dict())
        return
    _print(result.evaluations, result.comparisons, title=f"{dataset}, split {split}")
    if result.reliability is not None:
        show.line(_reliability_line(result.reliability))
    for what, path in (("run", run_out), ("report", report)):
        if path is not None:
            show.line(f"{what:<8} {path}")


def _evaluate_files(
    run: Path, qrels: Path, measures: list[str] | None, protocol: str | None, json: bool
) -> None:
    with show.working("measuring"):
        from matchwork.data import read_qrels, read_run
        from matchwork.evaluate import evaluate_run

        evaluation = evaluate_run(
            read_run(run), read_qrels(qrels), measures or ["AP", "RR"], protocol or "raw"
        )
    if json:
        show.as_json(
            {
                "run": str(run),
                "qrels": str(qrels),
                "protocol": evaluation.protocol,
                "num_queries": evaluation.num_queries,
                "num_dropped": evaluation.num_dropped,
                "num_ties": evaluation.num_ties,
                "measures": evaluation.to_dict(),
            }
        )
        return
    _print({run.name: evaluation}, {}, title=qrels.name)


def _print(
    evaluations: "Mapping[str, Evaluation]",
    comparisons: "Mapping[str, Mapping[str, Comparison]]",
    title: str,
) -> None:
    note = _conditions(evaluations)
    if comparisons:
        note += "; change and p (Holm-corrected) against BM25"
    show.table(*_rows(evaluations, comparisons), title=title, note=note)


def _rows(
    evaluations: "Mapping[str, Evaluation]",
    comparisons: "Mapping[str, Mapping[str, Comparison]]",
) -> tuple[list[str], list[list[Cell]]]:
    """Return a header, and a row per measure and system: value, interval, change to BM25 if any."""
    header = ["measure", "system", "value", "95 % interval"]
    rows: list[list[Cell]] = []
    for measure in next(iter(evaluations.values())).values:
        for name, one in evaluations.items():
            row: list[Cell] = [measure, name, one[measure], interval(*one.interval(measure))]
            if name in comparisons:
                found = comparisons[name][measure]
                row += [signed(found.difference), p_value(found.adjusted_p), wins_and_losses(found)]
            elif comparisons:
                row += [""] * 3
            rows.append(row)
    return [*header, *(["change", "p", "won/lost"] if comparisons else [])], rows


def wins_and_losses(comparison: "Comparison") -> str:
    """Return how many queries were won and lost; F1 has no queries to count."""
    return f"{comparison.wins}/{comparison.losses}" if comparison.changes else MISSING


def _conditions(evaluations: "Mapping[str, Evaluation]") -> str:
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


def _reliability_line(reliability: "Reliability") -> str:
    """Return the reliability of probabilities in a sentence."""
    return (
        f"Probabilities of {reliability.num_pairs:,} pairs: calibration error "
        f"{reliability.calibration_error:.4f} over {len(reliability.bins)} bins of equal size, "
        f"Brier score {reliability.brier:.4f}"
    )


def _sections(result: "BenchmarkResult") -> "Iterator[Section]":
    """Yield numbers, intervals, wins and losses, and explanations of a few pairs."""
    from matchwork.report.page import Figure, Heading, Paragraph, Table
    from matchwork.report.result_charts import Bar, bar_with_intervals, reliability_chart

    yield Paragraph(_conditions(result.evaluations) + ".")
    yield Table(*_rows(result.evaluations, result.comparisons))
    first = result.measured.measures[0]
    bars = [Bar(name, e[first], *e.interval(first)) for name, e in result.evaluations.items()]
    yield Figure(bar_with_intervals(bars, first), "With 95 % bootstrap intervals over queries.")
    if result.reliability is not None:
        yield Heading("Calibration")
        yield Figure(reliability_chart(result.reliability))
        yield Paragraph(_reliability_line(result.reliability) + ".")
    for name, comparisons in result.comparisons.items():
        comparison = next(iter(comparisons.values()))
        if comparison.changes:
            yield from _changes(result, name, comparison)


def _changes(result: "BenchmarkResult", name: str, comparison: "Comparison") -> "Iterator[Section]":
    from matchwork.matcher import Matcher
    from matchwork.report.page import Figure, Heading, Table
    from matchwork.report.result_charts import wins_losses

    yield Heading(f"{name} against BM25, query by query")
    yield Figure(wins_losses(comparison.changes.values(), comparison.measure))
    for caption, changes in (
        ("Biggest wins", comparison.biggest_wins(_EXAMPLES)),
        ("Biggest losses", comparison.biggest_losses(_EXAMPLES)),
    ):
        if changes:
            queries = result.measured.split.queries
            rows = [[q, queries.get(q, ""), signed(change)] for q, change in changes]
            yield Table(["id", "query", comparison.measure], rows, caption)
            if isinstance(result.scorer, Matcher) and name == result.scorer.name:
                yield from _explanation(result, result.scorer, changes[0][0])


def _explanation(result: "BenchmarkResult", matcher: "Matcher", query: str) -> "Iterator[Section]":
    """Explain the document that the matcher ranks first for a query."""
    from matchwork.explain import Highlight, explain
    from matchwork.report.page import Paragraph

    split, scores = result.measured.split, result.runs[matcher.name].get(query)
    if not scores:
        return
    best = max(scores, key=scores.__getitem__)
    relevant = "relevant" if split.label(query, best) > 0 else "not relevant"
    yield Paragraph(f"The document it ranks first for query {query} ({best}, {relevant}):")
    yield Highlight(explain(matcher, split.queries[query], split.documents[best]))

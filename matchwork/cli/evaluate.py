"""`matchwork evaluate`: a matcher on a data set, or a TREC run against judgements."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.compare import describe, outcome
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
)
from matchwork.cli.options import columns as read_columns
from matchwork.errors import ConfigError

if TYPE_CHECKING:
    from matchwork.evaluate import Comparison, Evaluation, Reliability

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
        Path | None, typer.Option(help="Instead of both: a TREC run …", show_default=False)
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="… and its TREC judgements.", show_default=False)
    ] = None,
    split: Annotated[str, typer.Option(help="Which part of the data set.")] = "test",
    measures: Measures = None,
    protocol: Protocol = None,
    depth: Depth = 100,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Also fuse with BM25: the matcher's share.", show_default=False
        ),
    ] = None,
    run_out: Annotated[
        Path | None, typer.Option(help="Write the ranking as a TREC run.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a page with charts.", show_default=False),
    ] = None,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    precision: Precision = "32",
    json: Json = False,
) -> None:
    """Measure a matcher beside BM25, with intervals and significance."""
    if run is not None or qrels is not None:
        if run is None or qrels is None or matcher is not None:
            raise ConfigError("--run and --qrels go together, and without MATCHER and DATASET")
        _evaluate_files(run, qrels, listed(measures), protocol, json)
        return
    if matcher is None or dataset is None:
        raise ConfigError("name a MATCHER and a DATASET, or give --run and --qrels")
    with show.working("loading"):
        from matchwork.cli.evaluation_report import write_evaluation_report
        from matchwork.cli.measure import Question, measure
        from matchwork.data import write_run
    question = Question(
        dataset=dataset,
        split=split,
        measures=listed(measures),
        protocol=protocol,
        depth=depth,
        data_root=data_root,
        columns=read_columns(columns),
        options=data_options(option),
    )
    with show.cuts():
        answer = measure(matcher, question, weight, precision)
    if run_out is not None:
        write_run(run_out, answer.run, tag=list(answer.runs)[-1].replace(" ", ""))
    if report is not None:
        write_evaluation_report(report, answer)
    if json:
        show.as_json(answer.to_json())
        return
    _print(answer.evaluations, answer.comparisons, title=f"{dataset}, split {split}")
    if answer.reliability is not None:
        show.line(reliability_line(answer.reliability))
    for what, path in (("run", run_out), ("report", report)):
        if path is not None:
            show.line(f"{what:<8} {path}")


def _evaluate_files(
    run: Path, qrels: Path, measures: list[str] | None, protocol: str | None, json: bool
) -> None:
    with show.working("measuring"):
        from matchwork.data import read_qrels, read_run
        from matchwork.evaluate import evaluate as evaluate_run

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
                "measures": describe_evaluation(evaluation),
            }
        )
        return
    _print({run.name: evaluation}, {}, title=qrels.name)


def describe_evaluation(
    evaluation: "Evaluation", comparisons: "Mapping[str, Comparison] | None" = None
) -> dict[str, dict[str, Any]]:
    """Measure -> value, interval and, beside a baseline, the comparison."""
    return {
        measure: {
            "value": value,
            "ci": list(evaluation.interval(measure)),
            **({} if comparisons is None else {"against BM25": describe(comparisons[measure])}),
        }
        for measure, value in evaluation.values.items()
    }


def evaluation_rows(
    evaluations: "Mapping[str, Evaluation]",
    comparisons: "Mapping[str, Mapping[str, Comparison]]",
) -> list[list[str]]:
    """Measure, system, value, interval; beside a baseline also difference, p and the score."""
    rows = []
    for measure in next(iter(evaluations.values())).values:
        for name, evaluation in evaluations.items():
            row = [
                measure,
                name,
                f"{evaluation[measure]:.4f}",
                show.interval(*evaluation.interval(measure)),
            ]
            if comparisons:
                row += _against(comparisons[name][measure]) if name in comparisons else [""] * 3
            rows.append(row)
    return rows


def evaluation_header(with_baseline: bool) -> list[str]:
    """The head of `evaluation_rows`."""
    against = ["change", "p", "won/lost"]
    return ["measure", "system", "value", "95 % interval", *(against if with_baseline else [])]


def conditions(evaluations: "Mapping[str, Evaluation]") -> str:
    """What the numbers are over."""
    from matchwork.evaluate import PROTOCOLS, task_of

    first = next(iter(evaluations.values()))
    if task_of(next(iter(first.values))) != "ranking":
        return f"{first.num_queries:,} pairs"
    ties = ", ".join(f"{name} {found.num_ties:,}" for name, found in evaluations.items())
    rule = "sorted by id" if PROTOCOLS[first.protocol].ties_by_id else "counted against the system"
    return (
        f"{first.num_queries:,} queries, protocol {first.protocol} "
        f"({first.num_dropped:,} dropped); tied documents, {rule}: {ties}"
    )


def reliability_line(found: "Reliability") -> str:
    """How far the matcher's probabilities can be trusted, in a sentence."""
    return (
        f"Probabilities of {found.num_pairs:,} pairs: calibration error "
        f"{found.calibration_error:.4f} over {len(found.bins)} bins of equal size, "
        f"Brier score {found.brier:.4f}"
    )


def _against(comparison: "Comparison") -> list[str]:
    return [
        show.signed(comparison.difference),
        show.p_value(comparison.adjusted_p),
        outcome(comparison),
    ]


def _print(
    evaluations: "Mapping[str, Evaluation]",
    comparisons: "Mapping[str, Mapping[str, Comparison]]",
    title: str,
) -> None:
    header, rows = evaluation_header(bool(comparisons)), evaluation_rows(evaluations, comparisons)
    note = conditions(evaluations)
    if comparisons:
        note += "; change and p (Holm-corrected) against BM25"
    show.table(header, rows, title=title, note=note)

"""`matchwork evaluate`: measure a matcher on a data set, or a TREC run against judgements."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import matchwork
from matchwork.cli import show
from matchwork.cli.evaluation_tables import (
    conditions,
    evaluation_header,
    evaluation_rows,
    reliability_line,
)
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
    from matchwork.evaluate import Comparison, Evaluation

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
        write_run(run_out, result.run, tag=result.system.replace(" ", ""))
    if report is not None:
        from matchwork.cli.evaluation_report import write_evaluation_report

        write_evaluation_report(report, result)
    if json:
        show.as_json(result.to_dict())
        return
    _print(result.evaluations, result.comparisons, title=f"{dataset}, split {split}")
    if result.reliability is not None:
        show.line(reliability_line(result.reliability))
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
    header, rows = evaluation_header(bool(comparisons)), evaluation_rows(evaluations, comparisons)
    note = conditions(evaluations)
    if comparisons:
        note += "; change and p (Holm-corrected) against BM25"
    show.table(header, rows, title=title, note=note)

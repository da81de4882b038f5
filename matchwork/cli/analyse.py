"""`matchwork analyse`: where a matcher is good, alone or beside another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import (
    DATASET_HELP,
    MATCHER_HELP,
    ColumnNames,
    DataOptions,
    DataRoot,
    Depth,
    Json,
    Protocol,
    data_options,
    examples,
)
from matchwork.cli.options import columns as read_columns

if TYPE_CHECKING:
    from matchwork.analyse import Analysis

EXAMPLES = examples(
    "matchwork analyse MATCHER wikiqa --against bm25",
    "matchwork analyse MATCHER wikiqa --oov --against OTHER --out oov.html --out oov.png",
    "matchwork analyse MATCHER pubmed --smoothing --json",
    "matchwork analyse bm25 pubmed --option pool=full --overlap --stem",
)


def analyse(
    matcher: Annotated[str, typer.Argument(metavar="MODEL", help=MATCHER_HELP)],
    dataset: Annotated[str, typer.Argument(metavar="DATA", help=DATASET_HELP)],
    oov: Annotated[
        bool, typer.Option("--oov", help="By how well MODEL's vocabulary knows nouns and verbs.")
    ] = False,
    smoothing: Annotated[
        bool,
        typer.Option(
            "--smoothing", help="Variance of the last matching matrix, trained and untrained."
        ),
    ] = False,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="P@1 by the number of shared words.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="A second matcher, or bm25.", show_default=False),
    ] = None,
    split: Annotated[str, typer.Option(help="Which part of the data set.")] = "test",
    protocol: Protocol = None,
    depth: Depth = 100,
    stem: Annotated[bool, typer.Option("--stem", help="Shared words by their stems.")] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Of intervals, tests and untrained weights.")
    ] = 0,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write it as .json, .html, .png or .svg; may be repeated.", show_default=False
        ),
    ] = None,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    json: Json = False,
) -> None:
    """Group the queries, compare the matrices; without --oov, --smoothing, --overlap all of them.

    Smoothing is measured on the training split as well, where there is one.
    """
    with show.working("loading"):
        from matchwork.cli.analysing import Wanted, run_analysis
        from matchwork.evaluate.benchmark import Benchmark
        from matchwork.report.writers import writer_for
    for path in out or []:
        writer_for(path)
    benchmark = Benchmark(
        dataset=dataset,
        split=split,
        measures=("P@1", "RR", "AP"),
        protocol=protocol,
        depth=depth,
        data_root=data_root,
        columns=read_columns(columns),
        options=data_options(option),
    )
    wanted = Wanted(oov, smoothing, overlap)
    analysis = run_analysis(matcher, against, benchmark, wanted, stem=stem, seed=seed)
    with show.working("drawing"):
        for path in out or []:
            analysis.save(path)
    if json:
        show.as_json(analysis.to_dict())
        return
    _print(analysis)
    for path in out or []:
        show.line(f"written  {path}")


def _print(analysis: "Analysis") -> None:
    show.line(analysis.title, "bold")
    for title, table in analysis.tables().items():
        show.table(table.header, table.rows, title=title, note=table.caption)

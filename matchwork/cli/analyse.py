"""`matchwork analyse`: on which queries a matcher does well, alone or compared with another."""

from dataclasses import replace
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
    Protocol,
    data_options,
    examples,
    read_columns,
)
from matchwork.errors import DataError

if TYPE_CHECKING:
    from matchwork.data import Split
    from matchwork.evaluate.benchmark import Benchmark

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
        bool,
        typer.Option(
            "--oov",
            help="Group queries by how well MODEL's vocabulary knows their nouns and verbs.",
        ),
    ] = False,
    smoothing: Annotated[
        bool,
        typer.Option(
            "--smoothing",
            help="Compare the variance of first and last matching matrix, trained and untrained.",
        ),
    ] = False,
    overlap: Annotated[
        bool,
        typer.Option(
            "--overlap",
            help="Group queries by the number of words shared with a relevant document.",
        ),
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="A second matcher, or bm25.", show_default=False),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to analyse.")] = "test",
    protocol: Protocol = None,
    depth: Depth = 100,
    stem: Annotated[bool, typer.Option("--stem", help="Compare words by their stems.")] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of intervals, tests and untrained weights.")
    ] = 0,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write it to this .json, .html, .png or .svg file; may be repeated.",
            show_default=False,
        ),
    ] = None,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    json: Json = False,
) -> None:
    """Analyse rankings by unknown words, shared words and smoothing of matching matrices.

    Without --oov, --smoothing and --overlap, all analyses that apply are made. Smoothing is
    measured on the training split as well, if there is one.
    """
    with show.working("loading"):
        from matchwork.cli.progress import scoring
        from matchwork.evaluate.benchmark import Benchmark
        from matchwork.matcher.opening import is_bm25
        from matchwork.report.writers import writer_for
        from matchwork.studies.iasm.study import MEASURES, Parts, named
        from matchwork.studies.iasm.study import analyse as analyse_systems
    for path in out or []:
        writer_for(path)
    benchmark = Benchmark(
        dataset=dataset,
        split=split,
        measures=MEASURES,
        protocol=protocol,
        depth=depth,
        data_root=data_root,
        columns=read_columns(columns),
        options=data_options(option),
    )
    names = [matcher] if against is None else [matcher, against]
    parts = Parts(oov, smoothing, overlap)
    if is_bm25(matcher):
        parts.check(None)  # before any work
    with show.working(f"reading {dataset}"):
        data, measured = benchmark.read()
    with show.working("opening the matchers"):
        systems = named([None if is_bm25(name) else matchwork.Matcher.load(name) for name in names])
    parts = parts.resolve(next(iter(systems.values())))
    training = _training(benchmark) if parts.smoothing else None
    with scoring() as progress:
        analysis = analyse_systems(
            data.name,
            measured,
            systems,
            parts,
            training=training,
            stem=stem,
            seed=seed,
            progress=progress,
        )
    for (system, model), name in zip(systems.items(), names, strict=True):
        if model is not None and system != model.name:
            show.note(f"{system}: {name}")
        if parts.smoothing and system not in analysis.smoothing:
            show.note(f"{system} has no matching matrices to compare; smoothing leaves it out")
    with show.working("drawing"):
        for path in out or []:
            analysis.save(path)
    if json:
        show.as_json(analysis.to_dict())
        return
    show.line(analysis.title, "bold")
    for title, table in analysis.tables().items():
        show.table(table.header, table.rows, title=title, note=table.caption)
    for path in out or []:
        show.line(f"written  {path}")


def _training(benchmark: "Benchmark") -> "Split | None":
    """Read the training split; None where there is none, or where it is the one in question."""
    if benchmark.split == "train":
        return None
    try:
        return replace(benchmark, split="train").read()[1].split
    except DataError as error:
        show.note(f"smoothing is measured on {benchmark.split} alone: {error}")
        return None

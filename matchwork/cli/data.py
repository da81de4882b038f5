"""`matchwork data`: list, show and check data sets."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.options import (
    DATASET_HELP,
    ColumnNames,
    DataOptions,
    DataRoot,
    Json,
    data_options,
    examples,
    read_columns,
)
from matchwork.report.numbers import Cell, shortened

if TYPE_CHECKING:
    from rich.text import Text

    from matchwork.audit import Finding, Report
    from matchwork.data import CatalogueEntry, Dataset, LabelledPair, Split

_NARROW = {"task, splits": 23}
_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}

app = typer.Typer(help="List, show and check data sets.", no_args_is_help=True)

DataName = Annotated[str, typer.Argument(metavar="NAME|PATH", help=DATASET_HELP)]
Splits = Annotated[
    list[str] | None,
    typer.Option("--split", help="Read only this split; may be repeated.", show_default="all"),
]


@app.command("list", epilog=examples("matchwork data list", "matchwork data list --json"))
def list_sets(data_root: DataRoot = None, json: Json = False) -> None:
    """List the catalogue: task, splits and licence of each data set, and whether it is here."""
    from matchwork.data import CATALOGUE

    entries = {name: _describe(CATALOGUE[name], data_root) for name in CATALOGUE}
    if json:
        show.as_json([{"name": name, **entry} for name, entry in entries.items()])
        return
    rows = [
        [
            name,
            "yes" if entry["present"] else "no",
            f"{entry['task']}\n{' '.join(entry['splits'])}",
            _two_lines(entry["title"], entry["licence"]),
        ]
        for name, entry in entries.items()
    ]
    show.table(["name", "here", "task, splits", "title, licence"], rows, max_width=_NARROW)
    if not all(entry["present"] for entry in entries.values()):
        show.note("Nothing is downloaded: put missing sets under --data-root or MATCHWORK_DATA.")


@app.command(
    "show",
    epilog=examples(
        "matchwork data show wikiqa --split test --examples 3",
        "matchwork data show pairs.tsv --columns query=question,document=answer",
        "matchwork data show insuranceqa-v2 --option pool=full",
    ),
)
def show_set(
    name: DataName,
    split: Splits = None,
    num_examples: Annotated[
        int, typer.Option("--examples", min=0, help="Number of example pairs of each split.")
    ] = 4,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    json: Json = False,
) -> None:
    """Show the counts of every split and a few of its pairs."""
    from matchwork.data import count

    dataset = _load(name, split, data_root, option, columns)
    counts = {each.name: asdict(count(each)) for each in dataset.splits.values()}
    pairs = {each.name: list(_examples(each, num_examples)) for each in dataset.splits.values()}
    if json:
        shown = {key: [pair._asdict() for pair in some] for key, some in pairs.items()}
        show.as_json({**_about(dataset), "counts": counts, "examples": shown})
        return
    about = _about(dataset)
    show.line(dataset.name, "bold")
    for key in ("task", "protocol", "measures", "options", "licence", "notes"):
        if about[key]:
            show.line(f"{key}: {_plain(about[key])}")
    kinds = list(next(iter(counts.values())))
    rows = [[each, *(numbers[kind] for kind in kinds)] for each, numbers in counts.items()]
    show.table(["split", *kinds], rows)
    for each, some in pairs.items():
        if some:
            shown_rows: list[list[Cell]] = [
                [shortened(pair.query, 120), shortened(pair.document), pair.label] for pair in some
            ]
            show.table(["query", "document", "label"], shown_rows, title=f"examples of {each}")


@app.command(
    "check",
    epilog=examples(
        "matchwork data check trecqa",
        "matchwork data check my_pairs/ --strict",
        "matchwork data check pairs.csv --columns query=title,document=body --json",
    ),
)
def check_set(
    name: DataName,
    split: Splits = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if there is an error.")
    ] = False,
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    json: Json = False,
) -> None:
    """Audit a data set before training: labels, duplicates, leaks, order of candidates, BM25."""
    from matchwork.audit import check

    dataset = _load(name, split, data_root, option, columns)
    with show.working("checking") as say:
        report = check(dataset, say)
    if json:
        show.as_json(report.to_dict())
    else:
        _print_report(report)
    if strict and any(finding.level == "error" for finding in report.findings):
        raise typer.Exit(1)


def _load(
    name: str,
    splits: list[str] | None,
    data_root: Path | None,
    option: list[str] | None,
    column_names: str | None,
) -> "Dataset":
    from matchwork.data import load

    options, named = data_options(option), read_columns(column_names)
    with show.working(f"reading {name}"):
        return load(name, data_root, splits, columns=named, **options)


def _two_lines(first: str, second: str) -> "Text":
    from rich.text import Text

    return Text.assemble(first, "\n", (second, "dim"))


def _describe(entry: "CatalogueEntry", data_root: Path | None) -> dict[str, Any]:
    on_disk = data_root is not None and (data_root / entry.folder).is_dir()
    return {
        "title": entry.title,
        "task": entry.task,
        "splits": list(entry.splits),
        "protocol": entry.protocol,
        "measures": list(entry.measures),
        "options": {key: list(values) for key, values in entry.options.items()},
        "licence": entry.licence,
        "citation": entry.citation,
        "notes": entry.notes,
        "present": entry.build is not None or on_disk,
    }


def _about(dataset: "Dataset") -> dict[str, Any]:
    return {
        "name": dataset.name,
        "task": dataset.task,
        "protocol": dataset.protocol,
        "measures": list(dataset.measures),
        "options": dict(dataset.options),
        "licence": dataset.licence,
        "notes": dataset.notes,
        "versions": dict(dataset.versions),
    }


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _examples(split: "Split", num_examples: int) -> Iterator["LabelledPair"]:
    """Yield positive and negative pairs alternately."""
    positives = islice((pair for pair in split.pairs() if pair.label > 0), num_examples)
    negatives = islice((pair for pair in split.pairs() if pair.label <= 0), num_examples)
    mixed = chain.from_iterable(zip_longest(positives, negatives))
    return islice((pair for pair in mixed if pair is not None), num_examples)


def _print_report(report: "Report") -> None:
    header, *rows = report.table()
    show.table(header, rows, title=report.dataset)
    header, *rows = report.overlap_table()
    if rows:
        show.table(header, rows, title="texts shared by splits")
    elif len(report.splits) > 1:
        show.line("Splits share no query, pair or document.")
    if not report.findings:
        show.line("No findings.", "green")
    for finding in report.findings:
        _print_finding(finding)


def _print_finding(finding: "Finding") -> None:
    from rich.text import Text

    style = _STYLES[finding.level]
    head = Text.assemble((f"{finding.level:<9}", style), (f"{finding.where}: ", "bold"))
    show.out().print(head.append(finding.message), soft_wrap=True)
    show.out().print(Text(f"         → {finding.remedy}", style="dim"), soft_wrap=True)

"""`matchwork demo`: train, evaluate and explain on built-in data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import Json, examples

if TYPE_CHECKING:
    from matchwork.demo import DemoResult
    from matchwork.studies.match_srnn import LCSDemo

EXAMPLES = examples(
    "matchwork demo", "matchwork demo --out somewhere --json", "matchwork demo --lcs"
)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for matcher, report and picture.")] = Path(
        "matchwork-demo"
    ),
    lcs: Annotated[
        bool,
        typer.Option("--lcs", help="Instead: train Match-SRNN on the longest common subsequence."),
    ] = False,
    json: Json = False,
) -> None:
    """Build a data set, train a matcher, compare it with BM25, explain and save it (minutes)."""
    with show.working("starting"):
        from matchwork.cli.progress import Watcher
        from matchwork.demo import DemoResult, run_demo
        from matchwork.studies.match_srnn import run_lcs_demo

    with Watcher(quiet=json) as watcher:
        result = run_lcs_demo(out, watcher) if lcs else run_demo(out, watcher)
    if json:
        show.as_json(result.to_dict())
    elif isinstance(result, DemoResult):
        _print(result)
    else:
        _print_lcs(result)


def _print_lcs(result: "LCSDemo") -> None:
    from matchwork.studies.match_srnn.report import CAPTIONS, figure_rows, grid_texts, path_line

    header = ["figure", "mean ± deviation", *(f"seed {seed}" for seed in result.figures)]
    num_pairs = len(result.dataset["test"].queries)
    show.table(header, figure_rows(result), title=f"LCS, {num_pairs:,} test pairs")
    for name, rows in grid_texts(result.grid).items():
        cells = [[letter, *row] for letter, row in zip(result.grid.query, rows, strict=True)]
        show.table(["", *result.grid.document], cells, title=CAPTIONS[name])
    show.line(f"Path back: {path_line(result.grid)}")
    show.line()
    show.line(f"matcher  {result.matcher_folder}")
    show.line(f"report   {result.report}")
    show.line(f"Done in {result.seconds:.0f} s. Next:")
    query, document = (" ".join(side) for side in (result.grid.query, result.grid.document))
    show.line(
        f"  matchwork explain {result.matcher_folder} --query '{query}' --document '{document}'"
    )


def _print(result: "DemoResult") -> None:
    from matchwork.demo.report import result_table

    header, rows = result_table(result)
    splits = result.dataset.splits
    show.table(
        header,
        rows,
        title="pydocs: find the docstring that a first paragraph was cut from",
        note=f"{len(splits['test'].queries):,} test queries, "
        f"{len(splits['test'].documents):,} documents, fusion weight {result.weight:g} chosen on "
        f"dev; change of {header[1].split()[0]} and p (paired permutation test) against BM25",
    )
    for query, hits in result.examples.items():
        show.table(
            ["rank", "document", "score"],
            [[str(hit.rank), hit.document.id, f"{hit.score:.3f}"] for hit in hits],
            title=f"“{query}”",
        )
    folder = result.matcher_folder
    show.line(f"matcher  {folder}")
    show.line(f"report   {result.report}")
    show.line(f"picture  {result.picture}")
    show.line()
    show.line(f"Done in {result.seconds:.0f} s. Next:")
    show.line(
        f"  matchwork explain {folder} --query 'sort a list' --document 'Return a sorted copy'"
    )
    show.line(f"  matchwork evaluate {folder} pydocs --depth 50 --weight {result.weight:g}")
    show.line("  matchwork data check pydocs")
    show.line("  matchwork train recipes/toy/iasm-dynamic.toml")

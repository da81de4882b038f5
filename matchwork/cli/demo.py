"""`matchwork demo`: the whole flow on built-in data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matchwork.cli import show
from matchwork.cli.options import Json, examples

if TYPE_CHECKING:
    from matchwork.demo import DemoResult

EXAMPLES = examples("matchwork demo", "matchwork demo --out somewhere --json")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for matcher, report and picture.")] = Path(
        "matchwork-demo"
    ),
    json: Json = False,
) -> None:
    """Build a data set, train a matcher, compare it with BM25, explain and save it (minutes)."""
    with show.working("starting"):
        from matchwork.cli.watch import Watcher
        from matchwork.demo import run_demo

    with Watcher(quiet=json) as watcher:
        result = run_demo(out, watcher)
    if json:
        show.as_json(_to_json(result))
    else:
        _print(result)


def _to_json(result: "DemoResult") -> dict[str, Any]:
    return {
        "dataset": result.dataset.name,
        "versions": dict(result.dataset.versions),
        "num_queries": result.evaluations["BM25"].num_queries,
        "fusion_weight": result.weight,
        "systems": {
            name: {
                "measures": found.values,
                "interval": {measure: found.interval(measure) for measure in found.samples},
                "p": {
                    measure: comparison.p_value
                    for measure, comparison in result.comparisons.get(name, {}).items()
                },
            }
            for name, found in result.evaluations.items()
        },
        "seconds": result.seconds,
        "matcher": str(result.matcher_folder),
        "report": str(result.report),
        "picture": str(result.picture),
    }


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

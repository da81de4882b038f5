"""`matchwork results`: a table of all results."""

from pathlib import Path
from typing import Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import Json, examples
from matchwork.errors import DataError

EXAMPLES = examples("matchwork results", "matchwork results --write", "matchwork results --json")


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

"""`matchwork results`: every result in one place."""

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
        bool, typer.Option("--write", help="Write the table as README.md into that folder.")
    ] = False,
    json: Json = False,
) -> None:
    """The table of all results, or the page made from it."""
    with show.working("reading results"):
        from matchwork.experiment import load_results, results_table, write_results_page
        from matchwork.experiment.results import without_queries

        found = load_results(results)
    if not found:
        raise DataError(
            "no results here; matchwork train RECIPE.toml makes some, --results names another "
            "folder",
            path=results,
        )
    page = write_results_page(results) if write else None
    if json:
        show.as_json([without_queries(one) for one in found])
        return
    from rich.markdown import Markdown

    show.out().print(Markdown(results_table(found)))
    if page is not None:
        show.line(f"written  {page}")

"""`matchwork explain`: which words a score comes from."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import matchwork
from matchwork.cli import show
from matchwork.cli.options import (
    DATASET_HELP,
    OPENED_HELP,
    ColumnNames,
    DataOptions,
    DataRoot,
    Json,
    data_options,
    examples,
    read_columns,
)
from matchwork.errors import ConfigError
from matchwork.files import write_json, write_text

if TYPE_CHECKING:
    from rich.text import Text

    from matchwork.data import Split
    from matchwork.explain import Explanation, Faithfulness
    from matchwork.matcher import Matcher
    from matchwork.types import Side

EXAMPLES = examples(
    "matchwork explain MATCHER --query 'who wrote hamlet' --document 'a play by shakespeare'",
    "matchwork explain MATCHER --query TEXT --document TEXT --out why.html --out why.png",
    "matchwork explain MATCHER --faithfulness wikiqa --pairs 200 --write",
    "matchwork explain --schema > explanation.schema.json",
)


def _print_schema(wanted: bool) -> None:
    if wanted:
        from matchwork.explain import json_schema

        show.as_json(json_schema())
        raise typer.Exit


def explain(
    matcher: Annotated[str, typer.Argument(help=OPENED_HELP)],
    query: Annotated[
        str | None, typer.Option("--query", "-q", help="Query text.", show_default=False)
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document", "-d", help="Document text.", show_default=False)
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write it to this .json, .html, .png, .svg or .vl.json (Vega-Lite) file; may "
            "be repeated.",
            show_default=False,
        ),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=1, help="Number of word pairs and words to print.")
    ] = 10,
    faithfulness: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help=f"Instead: measure how faithful explanations are on a data set. {DATASET_HELP}",
            show_default=False,
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of that data set.")] = "test",
    pairs: Annotated[
        int, typer.Option(min=2, help="Maximum number of matching pairs to explain.")
    ] = 200,
    draws: Annotated[
        int,
        typer.Option(min=1, help="Number of random word orders to compare each explanation with."),
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of pairs and random orders.")] = 0,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write JSON and chart to RESULTS/faithfulness."),
    ] = False,
    results: Annotated[Path, typer.Option(help="Folder for --write.")] = Path("results"),
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema",
            callback=_print_schema,
            is_eager=True,
            help="Print the JSON Schema of explanations and exit.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Score one pair and show which words the score comes from, or measure faithfulness."""
    if faithfulness is not None:
        if query is not None or document is not None or out:
            raise ConfigError("--faithfulness takes its pairs from a data set; leave out the texts")
        from matchwork.data import load
        from matchwork.experiment.environment import commit

        code = commit()
        with show.working(f"reading {faithfulness}"):
            options, names = data_options(option), read_columns(columns)
            dataset = load(faithfulness, data_root, [split], columns=names, **options)
        with show.working(f"opening {matcher}"):
            opened = matchwork.Matcher.load(matcher)
        result = _measure(opened, dataset[split], pairs, draws, seed)
        about = {"dataset": dataset.name, "split": split}
        _report(result, about, code, results / "faithfulness" if write else None, json)
        return
    if query is None or document is None:
        raise ConfigError("give --query and --document, or --faithfulness DATASET")
    with show.working(f"opening {matcher}"):
        opened = matchwork.Matcher.load(matcher)
    with show.cuts(), show.working("explaining"):
        from matchwork.explain import explain as explain_pair
        from matchwork.explain import save

        explanation = explain_pair(opened, query, document)
        for path in out or []:
            save(explanation, path)
    if json:
        show.as_json(explanation.to_dict())
        return
    print_explanation(explanation, top_k)
    for path in out or []:
        show.line(f"written  {path}")


def print_explanation(explanation: "Explanation", top_k: int) -> None:
    """Print both texts and the tables of every view, `top_k` rows of each."""
    from matchwork.explain.view import views
    from matchwork.types import SIDES

    show.line(explanation.headline, "bold")
    for side in SIDES:
        show.out().print(_marked(explanation, side))
    if not explanation.weights and (not explanation.tables or not explanation.table().size):
        show.line("The model gives no table of word pairs for these texts.")
    for _, view in views():
        for table in view.tables(explanation, top_k):
            title = table.caption or view.title
            show.table(table.header, table.rows, title=title, note=table.note)
        for note in view.notes(explanation):
            show.line(note)


def _marked(explanation: "Explanation", side: "Side") -> "Text":
    """Return a text whose words are brighter the more they count."""
    from rich.text import Text

    from matchwork.report.highlight import segments

    text, titled = explanation.text(side), explanation.word_values(side)
    marked = Text(f"{side:<9}", style="dim")
    if titled is None or not text:
        return marked.append(text or "(empty)", style="not dim")
    parts = segments(text, explanation.tokens(side), titled[1])
    largest = max((abs(part.value) for part in parts if part.value is not None), default=0.0) or 1.0
    for part in parts:
        share = 0.0 if part.value is None else part.value / largest
        marked.append(part.text, style=f"not dim {_colour(share)}")
    return marked


def _colour(share: float) -> str:
    if abs(share) < 0.15:
        return ""
    strength = "bold " if abs(share) > 0.6 else ""
    return f"{strength}{'blue' if share >= 0 else 'yellow'}"


def _measure(
    matcher: "Matcher", split: "Split", num_pairs: int, num_draws: int, seed: int
) -> "Faithfulness":
    from matchwork.cli.progress import counting
    from matchwork.explain.faithfulness import faithfulness, matching_pairs

    pairs = matching_pairs(split, num_pairs, seed)
    with counting("texts") as advance:
        return faithfulness(matcher, pairs, num_draws=num_draws, seed=seed, progress=advance)


def _report(
    result: "Faithfulness", about: dict[str, Any], code: Any, folder: Path | None, json: bool
) -> None:
    """Print the result, and write JSON and chart into `folder` where it is given."""
    from matchwork.experiment.environment import hardware, versions
    from matchwork.explain.faithfulness import faithfulness_chart, faithfulness_table
    from matchwork.report.drawing import to_svg

    paths: list[Path] = []
    with show.working("comparing"):
        record = {
            **about,
            **result.to_dict(),
            "commit": code,
            "hardware": hardware(),
            "versions": versions(),
            "date": datetime.now(UTC).date().isoformat(),
        }
        if folder is not None:
            stem = f"{about['dataset']}-{result.model}".replace("/", "-")
            paths = [folder / f"{stem}.json", folder / f"{stem}.svg"]
            write_json(paths[0], record)
            write_text(paths[1], to_svg(faithfulness_chart(result)))
    if json:
        show.as_json(record)
        return
    table = faithfulness_table(result)
    title = f"{result.model} on {about['dataset']}, split {about['split']}"
    show.table(table.header, table.rows, title=title, note=table.note)
    for path in paths:
        show.line(f"written  {path}")

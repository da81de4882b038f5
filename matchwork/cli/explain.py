"""`matchwork explain`: why a pair got its score, word by word."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
)
from matchwork.cli.options import columns as read_columns
from matchwork.cli.scorers import open_matcher
from matchwork.errors import ConfigError
from matchwork.report.numbers import Meter

if TYPE_CHECKING:
    from rich.text import Text

    from matchwork.explain import Explanation
    from matchwork.explain.explanation import Side

EXAMPLES = examples(
    "matchwork explain MATCHER --query 'who wrote hamlet' --document 'a play by shakespeare'",
    "matchwork explain MATCHER --query TEXT --document TEXT --out why.html --out why.png",
    "matchwork explain MATCHER --faithfulness wikiqa --pairs 200 --write",
    "matchwork explain --schema > explanation.schema.json",
)
_PHRASES = 5  # most phrases printed of each level


def _print_schema(wanted: bool) -> None:
    if wanted:
        from matchwork.explain import json_schema

        show.as_json(json_schema())
        raise typer.Exit


def explain(
    matcher: Annotated[str, typer.Argument(help=OPENED_HELP)],
    query: Annotated[
        str | None, typer.Option("--query", "-q", help="The one text.", show_default=False)
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document", "-d", help="The other text.", show_default=False)
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write it as .json, .html, .png, .svg or .vl.json (a Vega-Lite chart); may "
            "be repeated.",
            show_default=False,
        ),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=1, help="Word pairs and words to print.")
    ] = 10,
    faithfulness: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help=f"Instead of one pair: do explanations name the words that matter? {DATASET_HELP}",
            show_default=False,
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Which part of that data set.")] = "test",
    pairs: Annotated[int, typer.Option(min=2, help="Most matching pairs to explain.")] = 200,
    draws: Annotated[int, typer.Option(min=1, help="Random orders beside each.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of pairs and random orders.")] = 0,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write JSON and chart into the folder faithfulness of …"),
    ] = False,
    results: Annotated[Path, typer.Option(help="… this folder.")] = Path("results"),
    data_root: DataRoot = None,
    option: DataOptions = None,
    columns: ColumnNames = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema",
            callback=_print_schema,
            is_eager=True,
            help="Print the JSON Schema of explanations and leave.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Score one pair and show which words made the score, or measure such explanations."""
    if faithfulness is not None:
        if query is not None or document is not None or out:
            raise ConfigError("--faithfulness takes its pairs from a data set; leave out the texts")
        from matchwork.cli.faithfulness import Trial, run_trial

        given = read_columns(columns), data_options(option)
        trial = Trial(faithfulness, split, pairs, draws, seed, data_root, *given)
        run_trial(matcher, trial, results if write else None, json)
        return
    if query is None or document is None:
        raise ConfigError("give --query and --document, or --faithfulness DATASET")
    opened = open_matcher(matcher)
    with show.cuts(), show.working("explaining"):
        from matchwork.explain import explain as explain_pair
        from matchwork.explain import save

        explanation = explain_pair(opened, query, document)
        for path in out or []:
            save(explanation, path)
    if json:
        show.as_json(explanation.to_json())
        return
    _print(explanation, top_k)
    for path in out or []:
        show.line(f"written  {path}")


def _print(explanation: "Explanation", top_k: int) -> None:
    chance = explanation.probability
    show.line(
        f"{explanation.model}: score {explanation.score:.4f}"
        + ("" if chance is None else f", probability of a match {chance:.2f}"),
        "bold",
    )
    for side in ("query", "document"):
        show.out().print(_marked(explanation, side))
    if not explanation.tables or not explanation.table().size:
        if not explanation.weights:
            show.line("The model gives no table of word pairs for these texts.")
        _print_words(explanation, top_k)
        return
    _print_shares(explanation)
    if not _print_phrases(explanation, top_k) and not _print_answers(explanation):
        _print_pairs(explanation, top_k)
    _print_layers(explanation)
    _print_paths(explanation)
    _print_words(explanation, top_k)


def _print_shares(explanation: "Explanation") -> None:
    """What relevance and semantics made of the score, where the model has both."""
    if explanation.shares is not None:
        rows: list[list[show.Cell]] = [list(row) for row in explanation.shares.rows()]
        show.table(["features", "score"], rows, title="Relevance or semantics")
        show.line(explanation.shares.in_words())


def _print_phrases(explanation: "Explanation", top_k: int) -> bool:
    """The strongest phrase matches of each level; False where the model matches no phrases."""
    from matchwork.explain.phrases import HEADER, phrase_matches

    levels = phrase_matches(explanation)
    for level in levels:
        rows: list[list[show.Cell]] = [list(row) for row in level.rows(min(top_k, _PHRASES))]
        left = len(level.matches) - len(rows)
        note = f"{left} more, see --json or --out" if left else ""
        show.table(HEADER, rows, title=level.title, note=note)
    return bool(levels)


def _print_answers(explanation: "Explanation") -> bool:
    """Which document word answered each query word; False where the model aligns none."""
    from matchwork.explain import evidence_title
    from matchwork.explain.answers import ALIGNMENT, answers

    rows: list[list[show.Cell]] = [list(pair) for pair in answers(explanation)]
    if rows:
        show.table(["query", "document", "cosine"], rows, title=evidence_title(ALIGNMENT))
    return bool(rows)


def _print_pairs(explanation: "Explanation", top_k: int) -> None:
    from matchwork.explain import evidence_title

    pairs = explanation.strongest(top_k=top_k)
    largest = max(abs(pair.value) for pair in pairs) or 1.0
    rows: list[list[show.Cell]] = [
        [p.query, p.document, p.value, Meter(p.value / largest)] for p in pairs
    ]
    title = evidence_title(next(iter(explanation.tables)))
    show.table(["query", "document", "value", ""], rows, title=title)


def _print_layers(explanation: "Explanation") -> None:
    """How the matrix changes from layer to layer, where there are layers."""
    from matchwork.explain import layer_summaries, layer_title

    rows: list[list[show.Cell]] = [
        [layer_title(name), mean, spread, f"{query} – {document}", value]
        for name, mean, spread, (query, document, value) in layer_summaries(explanation)
    ]
    if rows:
        header = ["layer", "mean", "spread", "strongest pair", "value"]
        show.table(header, rows, title="How word matching changes from layer to layer")


def _print_paths(explanation: "Explanation") -> None:
    """The words that the matching path aligns, where the model walks along one."""
    from matchwork.explain import matching_paths

    for path in matching_paths(explanation):
        rows: list[list[show.Cell]] = [list(pair) for pair in path.aligned(explanation)]
        if rows:
            show.table(["query", "document", "interaction"], rows, title=path.title)
        else:
            show.line(f"{path.title}: no step crosses a pair of words diagonally")


def _print_words(explanation: "Explanation", top_k: int) -> None:
    """What each word added and what all add up to, where the model tells."""
    from matchwork.explain import contributions, evidence_title, sum_line

    for side in contributions(explanation):
        rows: list[list[show.Cell]] = [[label, *values] for label, values in side.rows(top_k)]
        title = evidence_title(f"{side.side}_{side.kinds[0]}")
        show.table([side.side, *side.kinds], rows, title=title)
    if line := sum_line(explanation):
        show.line(line)


def _marked(explanation: "Explanation", side: "Side") -> "Text":
    """A text whose words are the brighter the more they count."""
    from rich.text import Text

    from matchwork.report.highlight import segments

    text = explanation.query if side == "query" else explanation.document
    found = explanation.word_values(side)
    marked = Text(f"{side:<9}", style="dim")
    if found is None or not text:
        return marked.append(text or "(empty)", style="not dim")
    parts = segments(text, explanation.tokens(side), found[1])
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

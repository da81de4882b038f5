"""`matchwork explain`: why a pair got its score, word by word."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import OPENED_HELP, Json, examples
from matchwork.cli.scorers import open_matcher

if TYPE_CHECKING:
    from rich.text import Text

    from matchwork.explain import Explanation
    from matchwork.explain.explanation import Side

EXAMPLES = examples(
    "matchwork explain MATCHER --query 'who wrote hamlet' --document 'a play by shakespeare'",
    "matchwork explain MATCHER --query TEXT --document TEXT --out why.html --out why.png",
)
_BAR = 24  # letters of the longest bar
_PHRASES = 5  # most phrases printed of each level


def explain(
    matcher: Annotated[str, typer.Argument(help=OPENED_HELP)],
    query: Annotated[str, typer.Option("--query", "-q", help="The one text.")],
    document: Annotated[str, typer.Option("--document", "-d", help="The other text.")],
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write it as .json, .html, .png or .svg; may be repeated.", show_default=False
        ),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=1, help="Word pairs and words to print.")
    ] = 10,
    json: Json = False,
) -> None:
    """Score one pair and show which words made the score."""
    opened = open_matcher(matcher)
    with show.working("explaining"):
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
        [p.query, p.document, p.value, _bar(p.value / largest)] for p in pairs
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


def _bar(share: float) -> "Text":
    from rich.text import Text

    return Text("█" * max(1, round(abs(share) * _BAR)), style="blue" if share >= 0 else "yellow")


def _marked(explanation: "Explanation", side: "Side") -> "Text":
    """A text whose words are the brighter the more they count."""
    from rich.text import Text

    from matchwork.explain.highlight import segments

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

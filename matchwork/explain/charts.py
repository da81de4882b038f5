"""Pictures of one explanation: words against words, and texts with their words marked."""

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matchwork.explain.explanation import Explanation, Side, Values
from matchwork.explain.highlight import NEGATIVE, POSITIVE, Segment, opacity, segments
from matchwork.explain.titles import evidence_title
from matchwork.ordering import order

if TYPE_CHECKING:
    import altair as alt

    from matchwork.explain.drawing import Chart

CELL = 18  # pixels: the smallest square whose label can be read
MAX_WORDS = 50  # per side, in a picture that has to fit a page
LINE, LINE_HEIGHT, LETTER = 96, 22, 7.3  # letters per line of a strip; pixels
MAX_LETTERS = 14 * LINE


def heat_map(
    explanation: Explanation, table: str | None = None, max_words: int = MAX_WORDS
) -> "Chart":
    """One table as colours, words in text order.

    A side with more than `max_words` words keeps those with the strongest cells, and the
    title says so.
    """
    import altair as alt

    values = explanation.table(table)
    name = table or next(iter(explanation.tables))
    rows = _kept(explanation, "query", np.abs(values).max(axis=1, initial=0), max_words)
    columns = _kept(explanation, "document", np.abs(values).max(axis=0, initial=0), max_words)
    queries = [explanation.query_tokens[i].text for i in rows]
    documents = [explanation.document_tokens[i].text for i in columns]
    cells = [
        {"q": q, "d": d, "query": queries[q], "document": documents[d], "value": float(value)}
        for (q, d), value in np.ndenumerate(values[np.ix_(rows, columns)])
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=cells))
        .mark_rect()
        .encode(
            x=alt.X("d:O", title="document", axis=_word_axis(documents, labelAngle=-60)),
            y=alt.Y("q:O", title="query", axis=_word_axis(queries)),
            color=alt.Color("value:Q", title=None, scale=_colours(values)),
            tooltip=["query:N", "document:N", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(
            width=alt.Step(CELL),
            height=alt.Step(CELL),
            title=alt.TitleParams(
                evidence_title(name), subtitle=_left_out(values, rows, columns) or alt.Undefined
            ),
        )
    )
    return chart


def word_strip(explanation: Explanation, side: Side) -> "Chart | None":
    """A text in lines, each word on the colour of its weight; None without evidence for it."""
    import altair as alt

    found = explanation.word_values(side)
    text = explanation.query if side == "query" else explanation.document
    if found is None or not text.strip():
        return None
    meaning, values = found
    letters = _layout(segments(text, explanation.tokens(side), values))
    shown = letters[-1]["line"] + 1 if letters else 1
    cut = f", first {MAX_LETTERS:,} of {len(text):,} characters" if len(text) > MAX_LETTERS else ""
    base = alt.Chart(alt.InlineData(values=letters)).encode(
        x=alt.X("start:Q", axis=None, scale=alt.Scale(domain=[0, LINE], nice=False)),
        y=alt.Y("line:O", axis=None),
    )
    marks = base.mark_rect(cornerRadius=3).encode(
        x2="end:Q",
        opacity=alt.Opacity("opacity:Q", scale=None),
        color=alt.Color("colour:N", scale=None),
    )
    words = base.mark_text(align="left", font="monospace", fontSize=12, color="currentColor")
    title = alt.TitleParams(f"{side.capitalize()}{cut}", subtitle=meaning, fontSize=13)
    return alt.layer(marks, words.encode(x="ink:Q", text="text:N")).properties(
        width=LINE * LETTER, height=shown * LINE_HEIGHT, title=title
    )


def picture(explanation: Explanation, max_words: int = MAX_WORDS) -> "Chart":
    """Everything on one sheet: both texts, then every table, layer by layer."""
    import altair as alt

    strips = [word_strip(explanation, "query"), word_strip(explanation, "document")]
    sheets: list[Chart] = [strip for strip in strips if strip is not None]
    sheets += heat_maps(explanation, max_words)
    chance = explanation.probability
    headline = f"{explanation.model}: score {explanation.score:.4f}" + (
        "" if chance is None else f", probability of a match {chance:.2f}"
    )
    if not sheets:
        note = alt.Chart(alt.InlineData(values=[{"text": "no words to show"}])).mark_text()
        sheets = [note.encode(text="text:N")]
    return stack(sheets).properties(title=alt.TitleParams(headline, fontSize=16, offset=14))


def stack(charts: list["Chart"]) -> "alt.VConcatChart":
    """Charts one below the other, each with colours of its own."""
    import altair as alt

    stacked: alt.VConcatChart
    stacked = alt.vconcat(*charts, spacing=24).resolve_scale(color="independent")
    return stacked


def heat_maps(explanation: Explanation, max_words: int = MAX_WORDS) -> list["Chart"]:
    """Every table that has cells, in the model's order."""
    return [
        heat_map(explanation, name, max_words)
        for name, table in explanation.tables.items()
        if table.size
    ]


def _kept(
    explanation: Explanation, side: Side, strength: Values, max_words: int
) -> npt.NDArray[np.int64]:
    """The strongest words in text order (bigrams come after the words, so sort by place)."""
    tokens = explanation.tokens(side)
    strongest = order(strength)[:max_words]
    return np.array(sorted(strongest, key=lambda i: tokens[i][1:]), dtype=np.int64)


def _left_out(
    values: Values, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> list[str]:
    counts = {"query": (len(rows), values.shape[0]), "document": (len(columns), values.shape[1])}
    return [
        f"the {kept} of {all_words} {side} words with the strongest cells"
        for side, (kept, all_words) in counts.items()
        if kept < all_words
    ]


def _word_axis(words: list[str], **options: Any) -> "alt.Axis":
    """Positions as ticks, words as labels: the same word may stand in two places."""
    import altair as alt

    labels = f"{json.dumps(words)}[datum.value]"
    return alt.Axis(labelExpr=labels, labelLimit=140, ticks=False, domain=False, **options)


def _colours(values: Values) -> "alt.Scale":
    """From nothing to most; with negative values, orange below zero and blue above."""
    import altair as alt

    largest = float(np.abs(values).max(initial=0)) or 1.0
    if values.min(initial=0) >= 0:
        return alt.Scale(scheme="blues", domain=[0, largest])
    return alt.Scale(scheme="blueorange", domain=[-largest, largest], reverse=True)


def _layout(parts: list[Segment]) -> list[dict[str, Any]]:
    """Places of the segments on lines of equal letters; a word moves to the next line whole."""
    largest = max((abs(part.value) for part in parts if part.value is not None), default=0.0)
    placed: list[dict[str, Any]] = []
    line = column = used = 0
    for text, value in parts:
        for piece in (text[i : i + LINE] for i in range(0, len(text), LINE)):
            if used >= MAX_LETTERS:
                return placed
            used += len(piece)
            if column + len(piece.rstrip()) > LINE:
                line, column = line + 1, 0
            if column == 0:
                piece = piece.lstrip()
            placed.append(
                {
                    # Drawings drop space around a text and shrink space inside it.
                    "text": re.sub(r"\s", "\N{NO-BREAK SPACE}", piece.strip()),
                    "ink": column + len(piece) - len(piece.lstrip()),
                    "line": line,
                    "start": column,
                    "end": column + len(piece),
                    "colour": POSITIVE if value is None or value >= 0 else NEGATIVE,
                    "opacity": 0.0 if value is None else opacity(value, largest),
                }
            )
            column += len(piece)
    return placed

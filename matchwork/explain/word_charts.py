"""Texts with their words marked, and bars of what each word added."""

import re
from typing import TYPE_CHECKING, Any

from matchwork.explain.contributions import Contributions, contributions
from matchwork.explain.explanation import Explanation, Side
from matchwork.explain.titles import evidence_title
from matchwork.report.highlight import NEGATIVE, POSITIVE, Scale, Segment, segments

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart

LINE, LINE_HEIGHT, LETTER = 96, 22, 7.3  # letters per line of a strip; pixels
MAX_LETTERS = 14 * LINE
MAX_BARS, BAR_WIDTH = 15, 260  # words per side; pixels


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


def contribution_bars(explanation: Explanation, max_words: int = MAX_BARS) -> "Chart | None":
    """The most helpful words of each side, the better the longer; None without word weights.

    Both sides share one scale. The subtitle says what all words of a side add up to.
    """
    import altair as alt

    found = contributions(explanation)
    if not found:
        return None
    shown = [value for one in found for value in one.values[:max_words, 0]]
    scale = alt.Scale(domain=[min(0.0, *shown), max(0.0, *shown)], nice=True)
    chart: Chart = alt.hconcat(*(_bars(one, max_words, scale) for one in found), spacing=40)
    return chart


def _bars(side: Contributions, max_words: int, scale: Any) -> "Chart":
    import altair as alt

    labels, values = side.labels[:max_words], side.values[:max_words, 0]
    rows = [
        {"word": label, "value": float(value), "colour": POSITIVE if value >= 0 else NEGATIVE}
        for label, value in zip(labels, values, strict=True)
    ]
    some = f"the first {len(rows)} of {len(side.words)}, " if len(rows) < len(side.words) else ""
    title = alt.TitleParams(
        evidence_title(f"{side.side}_{side.kinds[0]}"),
        subtitle=f"{some}all together {side.totals[0]:.4f}",
        fontSize=13,
    )
    bars: Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
            y=alt.Y("word:N", title=None, sort=None, axis=alt.Axis(labelLimit=140, ticks=False)),
            color=alt.Color("colour:N", scale=None),
            tooltip=["word:N", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(width=BAR_WIDTH, height=alt.Step(18), title=title)
    )
    return bars


def _layout(parts: list[Segment]) -> list[dict[str, Any]]:
    """Places of the segments on lines of equal letters; a word moves to the next line whole."""
    scale = Scale.of(parts)
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
                    "opacity": 0.0 if value is None else scale.opacity(value),
                }
            )
            column += len(piece)
    return placed

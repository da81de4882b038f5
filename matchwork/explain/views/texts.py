"""View: both texts with their words marked, how strongly each one counted."""

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import VIEWS, View
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import chart_of
from matchwork.report.highlight import NEGATIVE, POSITIVE, Scale, Segment, marked_text, segments
from matchwork.report.page import Table
from matchwork.types import SIDES, Side

LINE, LINE_HEIGHT, LETTER = 96, 22, 7.3  # letters per line of a strip; pixels
MAX_LETTERS = 14 * LINE


def _side(explanation: Explanation, side: Side) -> str:
    text = explanation.text(side)
    titled = explanation.word_values(side)
    if titled is None:
        body, note = escape(text), ""
    else:
        title, values = titled
        body = marked_text(text, explanation.tokens(side), values)
        note = f" <small>({escape(title.lower())})</small>"
    style = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.7;margin-left:0"
    return (
        f"<p style='margin-bottom:0'><strong>{side.capitalize()}</strong>{note}</p>"
        f"<div style='{style}'>{body or '<em>empty</em>'}</div>"
    )


def _strongest(explanation: Explanation) -> str:
    if not explanation.tables or not explanation.table().size:
        return ""
    title = explanation.title(next(iter(explanation.tables)))
    return (
        "<p style='margin-bottom:0'><strong>Strongest word pairs</strong> "
        f"<small>({escape(title.lower())})</small></p>"
        + Table(["query", "document", "value"], explanation.strongest()).html()
    )


@dataclass(frozen=True)
class Highlight:
    """A section of a page: both texts of an explanation marked, and the strongest word pairs."""

    explanation: Explanation

    def html(self) -> str:
        """Return the score, both texts and the strongest pairs."""
        one = self.explanation
        return (
            f"<section><p>Score <strong>{one.score:.4f}</strong> by "
            f"{escape(one.model)}{one.probability_phrase}.</p>"
            f"{''.join(_side(one, side) for side in SIDES)}{_strongest(one)}</section>"
        )


def word_strip(explanation: Explanation, side: Side) -> Chart | None:
    """Draw a text in lines, each word on the colour of its weight; None without evidence."""
    titled = explanation.word_values(side)
    text = explanation.text(side)
    if titled is None or not text.strip():
        return None
    meaning, values = titled
    letters = _layout(segments(text, explanation.tokens(side), values))
    shown = letters[-1]["line"] + 1 if letters else 1
    cut = f", first {MAX_LETTERS:,} of {len(text):,} characters" if len(text) > MAX_LETTERS else ""
    base = chart_of(letters).encode(
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


def _layout(parts: list[Segment]) -> list[dict[str, Any]]:
    """Lay out segments on lines of equal letters; a word moves to the next line whole."""
    scale = Scale.of(parts)
    placed: list[dict[str, Any]] = []
    line = column = used = 0
    for text, value in parts:
        for part in (text[i : i + LINE] for i in range(0, len(text), LINE)):
            if used >= MAX_LETTERS:
                return placed
            used += len(part)
            if column + len(part.rstrip()) > LINE:
                line, column = line + 1, 0
            if column == 0:
                part = part.lstrip()
            placed.append(
                {
                    # Drawings drop space around a text and shrink space inside it.
                    "text": re.sub(r"\s", "\N{NO-BREAK SPACE}", part.strip()),
                    "ink": column + len(part) - len(part.lstrip()),
                    "line": line,
                    "start": column,
                    "end": column + len(part),
                    "colour": POSITIVE if value is None or value >= 0 else NEGATIVE,
                    "opacity": 0.0 if value is None else scale.opacity(value),
                }
            )
            column += len(part)
    return placed


VIEWS.add(
    "texts",
    View(
        title="Texts",
        order=0,
        picture=lambda found, max_words: [
            strip for side in SIDES if (strip := word_strip(found, side)) is not None
        ],
        page=lambda found: [Highlight(found)],
    ),
)

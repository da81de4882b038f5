"""View: words before hashing, as codes, and restored."""

from typing import TYPE_CHECKING, Any

from matchwork.explain.codes import PARTS
from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, VIEWS, View
from matchwork.report.drawing import CELL, colour_scale, word_axis

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart

COLUMN = 3  # pixels: a value of a code needs no label, and three panels must fit on a page
_HEADINGS = {"before": "before", "codes": "code", "after": "restored"}


def code_strip(explanation: Explanation, max_words: int = MAX_WORDS) -> "Chart | None":
    """Draw words by values before hashing, as codes, and restored; None without codes.

    Before and after share one scale of colours.
    """
    import altair as alt

    maps = explanation.codes
    if maps is None or not len(maps.before):
        return None
    words = [token.text for token in explanation.tokens(maps.side)][:max_words]
    vectors = colour_scale([maps.before, maps.after])
    panels = []
    for name in PARTS:
        values = getattr(maps, name)[: len(words)]
        cells: list[dict[str, Any]] = [
            {"w": row, "c": column, "word": words[row], "value": float(value)}
            for row, line in enumerate(values)
            for column, value in enumerate(line)
        ]
        scale = colour_scale([maps.codes]) if name == "codes" else vectors
        panels.append(
            alt.Chart(alt.InlineData(values=cells))
            .mark_rect()
            .encode(
                x=alt.X("c:O", axis=None),
                y=alt.Y("w:O", title=None, axis=word_axis(words) if name == "before" else None),
                color=alt.Color("value:Q", title=None, scale=scale),
                tooltip=["word:N", alt.Tooltip("value:Q", format=".4f")],
            )
            .properties(
                width=alt.Step(COLUMN),
                height=alt.Step(CELL),
                title=alt.TitleParams(_HEADINGS[name], fontSize=12),
            )
        )
    notes = [
        f"the {maps.before.shape[1]} of {maps.widths[0]} values and {maps.codes.shape[1]} of "
        f"{maps.widths[1]} bits that differ most between words"
    ]
    if len(words) < len(maps.before):
        notes.append(f"the first {len(words)} of {len(maps.before)} words")
    title = alt.TitleParams(f"What denoising keeps of each {maps.side} word", subtitle=notes)
    strip: Chart = alt.hconcat(*panels, spacing=14).resolve_scale(color="independent")
    return strip.properties(title=title)


def _charts(explanation: Explanation, max_words: int) -> list["Chart"]:
    chart = code_strip(explanation, max_words)
    return [] if chart is None else [chart]


VIEWS.add("codes", View(title="Codes before and after denoising", order=110, charts=_charts))

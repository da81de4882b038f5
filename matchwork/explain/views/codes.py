"""View: words before hashing, as codes, and restored."""

from matchwork.explain.codes import PARTS
from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, VIEWS, View, chart_if_any
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import colour_scale, heat_cells, word_axis

COLUMN = 3  # pixels: a value of a code needs no label, and three panels must fit on a page
_HEADINGS = {"before": "before", "codes": "code", "after": "restored"}


def code_strip(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart | None:
    """Draw words by values before hashing, as codes, and restored; None without codes.

    Before and after share one scale of colours.
    """
    maps = explanation.codes
    if maps is None or not len(maps.before):
        return None
    words = [token.text for token in explanation.tokens(maps.side)][:max_words]
    vectors = colour_scale([maps.before, maps.after])
    panels = []
    for name in PARTS:
        cells = [
            {"w": row, "c": column, "word": words[row], "value": float(value)}
            for row, line in enumerate(getattr(maps, name)[: len(words)])
            for column, value in enumerate(line)
        ]
        axis = word_axis(words) if name == "before" else None
        scale = colour_scale([maps.codes]) if name == "codes" else vectors
        x, y = alt.X("c:O", axis=None), alt.Y("w:O", title=None, axis=axis)
        title = alt.TitleParams(_HEADINGS[name], fontSize=12)
        panel = heat_cells(cells, x, y, scale, "word")
        panels.append(panel.properties(width=alt.Step(COLUMN), title=title))
    notes = [
        f"the {maps.before.shape[1]} of {maps.widths[0]} values and {maps.codes.shape[1]} of "
        f"{maps.widths[1]} bits that differ most between words"
    ]
    if len(words) < len(maps.before):
        notes.append(f"the first {len(words)} of {len(maps.before)} words")
    title = alt.TitleParams(f"What denoising keeps of each {maps.side} word", subtitle=notes)
    strip: Chart = alt.hconcat(*panels, spacing=14).resolve_scale(color="independent")
    return strip.properties(title=title)


VIEWS.add(
    "codes",
    View(title="Codes before and after denoising", order=110, charts=chart_if_any(code_strip)),
)

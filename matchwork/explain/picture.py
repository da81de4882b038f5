"""Everything about one pair on one sheet."""

from typing import TYPE_CHECKING

from matchwork.explain.code_charts import code_strip, word_gates
from matchwork.explain.explanation import Explanation
from matchwork.explain.heat_maps import MAX_WORDS, heat_maps
from matchwork.explain.reading_charts import reading_bars
from matchwork.explain.share_charts import share_bars
from matchwork.explain.word_charts import contribution_bars, word_strip
from matchwork.report.drawing import stack

if TYPE_CHECKING:
    from matchwork.report.drawing import Chart


def picture(explanation: Explanation, max_words: int = MAX_WORDS) -> "Chart":
    """Both texts, what each part and each word added, every table, layer by layer, then codes."""
    import altair as alt

    parts = [
        word_strip(explanation, "query"),
        word_strip(explanation, "document"),
        None if explanation.shares is None else share_bars(explanation.shares),
        reading_bars(explanation, max_words) or contribution_bars(explanation),
    ]
    sheets: list[Chart] = [part for part in parts if part is not None]
    sheets += heat_maps(explanation, max_words)
    inner = word_gates(explanation, max_words), code_strip(explanation, max_words)
    sheets += [part for part in inner if part is not None]
    chance = explanation.probability
    headline = f"{explanation.model}: score {explanation.score:.4f}" + (
        "" if chance is None else f", probability of a match {chance:.2f}"
    )
    if not sheets:
        note = alt.Chart(alt.InlineData(values=[{"text": "no words to show"}])).mark_text()
        sheets = [note.encode(text="text:N")]
    return stack(sheets, headline)

"""View: how far the gates of each word were open."""

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, VIEWS, View, chart_if_any
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import heat_cells, word_axis
from matchwork.types import SIDES, Side


def word_gates(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart | None:
    """Draw the gates of every word of both sides, from 0 to 1; None without gates."""
    charts = [_gates_of(explanation, side, max_words) for side in SIDES if explanation.gates(side)]
    if not charts:
        return None
    title = "How much each word takes from the other text"
    chart: Chart = alt.vconcat(*charts, spacing=14).properties(title=title)
    return chart


def _gates_of(explanation: Explanation, side: Side, max_words: int) -> "alt.Chart":
    words = [token.text for token in explanation.tokens(side)][:max_words]
    cells = [
        {"gate": explanation.title(name), "w": index, "word": words[index], "value": float(value)}
        for name, values in explanation.gates(side).items()
        for index, value in enumerate(values[:max_words])
    ]
    return heat_cells(
        cells,
        alt.X("w:O", title=None, axis=word_axis(words, labelAngle=-60)),
        alt.Y("gate:N", title=None, sort=None, axis=alt.Axis(labelLimit=240, ticks=False)),
        alt.Scale(scheme="blues", domain=[0, 1]),
        "word",
        "gate",
    )


VIEWS.add(
    "gates", View(title="How far the gates were open", order=100, charts=chart_if_any(word_gates))
)

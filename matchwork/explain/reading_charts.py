"""Attention and context jump along a document, word by word."""

from typing import TYPE_CHECKING, Any

from matchwork.explain.explanation import Explanation, Values
from matchwork.explain.heat_maps import CELL, MAX_WORDS
from matchwork.explain.titles import CONTEXT_JUMP, DOCUMENT_ATTENTION, evidence_title
from matchwork.report.drawing import word_axis
from matchwork.report.highlight import POSITIVE

if TYPE_CHECKING:
    import altair as alt

    from matchwork.report.drawing import Chart

_HEIGHT = 110  # pixels of a panel


def reading_values(explanation: Explanation) -> dict[str, Values]:
    """What the model makes of each document word as it reads on; empty for models that do not."""
    return {
        name: explanation.weights[name].values
        for name in (DOCUMENT_ATTENTION, CONTEXT_JUMP)
        if name in explanation.weights and len(explanation.document_tokens)
    }


def reading_bars(explanation: Explanation, max_words: int = MAX_WORDS) -> "Chart | None":
    """Bars over the words in their order, a panel for each kind; None without any."""
    import altair as alt

    found = reading_values(explanation)
    if not found:
        return None
    panels = [
        _panel(explanation, name, values[:max_words], last=name == list(found)[-1])
        for name, values in found.items()
    ]
    chart: Chart = alt.vconcat(*panels, spacing=8)
    total = len(explanation.document_tokens)
    cut = f", first {max_words} of {total} words" if total > max_words else ""
    return chart.properties(title=f"How the document was read{cut}")


def _panel(explanation: Explanation, name: str, values: Values, last: bool) -> "alt.Chart":
    import altair as alt

    words = [token.text for token in explanation.document_tokens][: len(values)]
    bars: list[dict[str, Any]] = [
        {"w": place, "word": word, "value": float(value)}
        for place, (word, value) in enumerate(zip(words, values, strict=True))
    ]
    axis = word_axis(words, labelAngle=-60) if last else None
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=bars))
        .mark_bar(color=POSITIVE)
        .encode(
            x=alt.X("w:O", title=None, axis=axis),
            y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4)),
            tooltip=["word:N", alt.Tooltip("value:Q", format=".4f")],
        )
        .properties(
            width=alt.Step(CELL),
            height=_HEIGHT,
            title=alt.TitleParams(evidence_title(name), fontSize=12),
        )
    )
    return chart

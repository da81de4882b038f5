"""View: attention and context jump along a document, word by word."""

from matchwork.explain.explanation import Explanation
from matchwork.explain.titles import CONTEXT_JUMP, DOCUMENT_ATTENTION
from matchwork.explain.view import MAX_PAGE_WORDS, MAX_WORDS, VIEWS, View, chart_if_any
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import CELL, chart_of, value_tip, word_axis
from matchwork.report.highlight import POSITIVE, Values
from matchwork.report.page import Figure, Heading, MarkedText, Section

_TITLE = "How the document was read"
_HEIGHT = 110  # pixels of a panel


def reading_values(explanation: Explanation) -> dict[str, Values]:
    """Return attention and jump of each document word; empty for models that have neither."""
    return {
        name: explanation.weights[name].values
        for name in (DOCUMENT_ATTENTION, CONTEXT_JUMP)
        if name in explanation.weights and len(explanation.document_tokens)
    }


def reading_bars(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart | None:
    """Draw bars over the words in order, a panel for each kind; None without any."""
    values_by_name = reading_values(explanation)
    if not values_by_name:
        return None
    panels = [
        _panel(explanation, name, values[:max_words], last=name == list(values_by_name)[-1])
        for name, values in values_by_name.items()
    ]
    chart: Chart = alt.vconcat(*panels, spacing=8)
    total = len(explanation.document_tokens)
    cut = f", first {max_words} of {total} words" if total > max_words else ""
    return chart.properties(title=f"{_TITLE}{cut}")


def _panel(explanation: Explanation, name: str, values: Values, last: bool) -> "alt.Chart":
    words = [token.text for token in explanation.document_tokens][: len(values)]
    bars = [
        {"w": index, "word": word, "value": float(value)}
        for index, (word, value) in enumerate(zip(words, values, strict=True))
    ]
    axis = word_axis(words, labelAngle=-60) if last else None
    title = alt.TitleParams(explanation.title(name), fontSize=12)
    chart: alt.Chart = (
        chart_of(bars)
        .mark_bar(color=POSITIVE)
        .encode(
            x=alt.X("w:O", title=None, axis=axis),
            y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4)),
            tooltip=value_tip("word"),
        )
        .properties(width=alt.Step(CELL), height=_HEIGHT, title=title)
    )
    return chart


def _page(explanation: Explanation) -> list[Section]:
    chart = reading_bars(explanation, MAX_PAGE_WORDS)
    if chart is None:
        return []
    sections: list[Section] = [Heading(_TITLE), Figure(chart)]
    jumps = reading_values(explanation).get(CONTEXT_JUMP)
    if jumps is not None:
        text, tokens = explanation.document, explanation.document_tokens
        sections.append(MarkedText(text, tokens, jumps, explanation.title(CONTEXT_JUMP)))
    return sections


VIEWS.add("reading", View(title=_TITLE, order=50, charts=chart_if_any(reading_bars), page=_page))

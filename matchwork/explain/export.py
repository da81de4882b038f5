"""An explanation as a file: JSON for programs, HTML for reading, PNG and SVG for showing.

`.vl.json` is the picture as Vega-Lite, for pages and notebooks that draw it themselves.
"""

from itertools import chain
from pathlib import Path

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, views
from matchwork.report.altair import Chart
from matchwork.report.drawing import chart_of, stack
from matchwork.report.writers import Exportable, write


def picture(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart:
    """Return the charts of all views on one sheet, with at most `max_words` per side."""
    charts = [chart for _, view in views() for chart in view.drawings(explanation, max_words)]
    if not charts:
        charts = [chart_of([{"text": "no words to show"}]).mark_text().encode(text="text:N")]
    return stack(charts, explanation.headline)


def save(explanation: Explanation, path: str | Path) -> None:
    """Write an explanation in the format that the suffix of `path` names.

    Args:
        explanation: The explanation.
        path: A file ending in `.json`, `.html`, `.png`, `.svg` or `.vl.json`.

    Raises:
        ConfigError: No format has this suffix.
    """
    title = f"Why this score: {explanation.model}"
    content = Exportable(
        title,
        explanation.to_dict,
        lambda: chain.from_iterable(view.sections(explanation) for _, view in views()),
        lambda: picture(explanation),
    )
    write(content, path)

"""An explanation as a file: JSON for programs, HTML for reading, PNG and SVG for showing.

`.vl.json` is the picture as Vega-Lite, for pages and notebooks that draw it themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import MAX_WORDS, views
from matchwork.report.altair import Chart
from matchwork.report.drawing import chart_of, stack
from matchwork.report.page import Section
from matchwork.report.writers import write


def picture(explanation: Explanation, max_words: int = MAX_WORDS) -> Chart:
    """Return the charts of all views on one sheet.

    Args:
        explanation: The explanation.
        max_words: Most words per side of a chart.
    """
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
    write(_Export(explanation), path)


@dataclass(frozen=True)
class _Export:
    explanation: Explanation

    @property
    def title(self) -> str:
        return f"Why this score: {self.explanation.model}"

    def to_dict(self) -> dict[str, Any]:
        return self.explanation.to_dict()

    def sections(self) -> Iterator[Section]:
        for _, view in views():
            yield from view.sections(self.explanation)

    def picture(self) -> Chart:
        return picture(self.explanation)

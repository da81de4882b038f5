"""SCORE -> REASONS: explanations of single pairs, their pictures, and report pages."""

from matchwork.explain.charts import heat_map, heat_maps, picture, word_strip
from matchwork.explain.explanation import Explanation, WordPair, WordWeight, explain
from matchwork.explain.export import save
from matchwork.explain.report import (
    Figure,
    Heading,
    Highlight,
    Paragraph,
    Section,
    Table,
    report_html,
    write_report,
)
from matchwork.explain.result_charts import Bar, bar_with_intervals, curve, wins_losses
from matchwork.explain.titles import evidence_title
from matchwork.packages import make_callable

__all__ = [
    "Bar",
    "Explanation",
    "Figure",
    "Heading",
    "Highlight",
    "Paragraph",
    "Section",
    "Table",
    "WordPair",
    "WordWeight",
    "bar_with_intervals",
    "curve",
    "evidence_title",
    "explain",
    "heat_map",
    "heat_maps",
    "picture",
    "report_html",
    "save",
    "wins_losses",
    "word_strip",
    "write_report",
]

make_callable(__name__)

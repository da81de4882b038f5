"""View: the strongest word pairs, for models that do not pair words or phrases themselves."""

from matchwork.explain.explanation import Explanation
from matchwork.explain.view import VIEWS, View
from matchwork.explain.views.answers import answers
from matchwork.explain.views.phrases import phrase_matches
from matchwork.report.numbers import Cell, Meter
from matchwork.report.page import Table


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    if not explanation.tables or not explanation.table().size:
        return []
    if phrase_matches(explanation) or answers(explanation):
        return []
    pairs = explanation.strongest(top_k=top_k or 10)
    largest = max(abs(pair.value) for pair in pairs) or 1.0
    rows: list[list[Cell]] = [[*pair, Meter(pair.value / largest)] for pair in pairs]
    title = explanation.title(next(iter(explanation.tables)))
    return [Table(["query", "document", "value", ""], rows, title)]


VIEWS.add(
    "pairs",
    View(
        title="Strongest word pairs",
        order=40,
        tables=_tables,
        page=lambda found: [],  # the view "texts" has them
    ),
)

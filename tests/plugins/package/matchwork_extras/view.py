"""An explanation view: the longest word of the document."""

from matchwork.explain import VIEWS, View
from matchwork.report.page import Table


def _longest(explanation):
    return max((token.text for token in explanation.document_tokens), key=len, default="")


VIEWS.add(
    "extras-longest-word",
    View(
        title="The longest word",
        tables=lambda explanation, top_k: [Table(["longest"], [[_longest(explanation)]])],
        data=_longest,
        schema=str,
    ),
)

"""View: the document word that answers each query word, where the score sums such answers."""

import numpy as np

from matchwork.explain.explanation import Explanation, WordPair
from matchwork.explain.view import VIEWS, View
from matchwork.report.page import Table

ALIGNMENT = "alignment"
"""Name of the table whose rows are 0 except for the word that answers."""


def answers(explanation: Explanation) -> list[WordPair]:
    """Return the query words in order, each with its answer; none if the model aligns no words."""
    table = explanation.tables.get(ALIGNMENT)
    if table is None or not table.size:
        return []
    best = np.abs(table).argmax(axis=1)
    cosines = explanation.tables.get("cosine", explanation.tables.get("similarity", table))
    hidden = ~table.any(axis=1)  # the answer is itself a 0
    best[hidden] = cosines[hidden].argmax(axis=1)
    return [
        WordPair(
            explanation.query_tokens[row].text,
            explanation.document_tokens[column].text,
            float(table[row, column]),
        )
        for row, column in enumerate(best.tolist())
    ]


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    pairs = answers(explanation)
    return [Table(["query", "document", "cosine"], pairs)] if pairs else []


VIEWS.add(
    "answers",
    View(title="Which document word answers each query word", order=30, tables=_tables),
)

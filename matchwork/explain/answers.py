"""Which document word answered each query word, where the score is a sum of such answers."""

import numpy as np

from matchwork.explain.explanation import Explanation, WordPair

ALIGNMENT = "alignment"
"""The table whose rows are 0 but for the word that answers."""


def answers(explanation: Explanation) -> list[WordPair]:
    """The query words in order, each with its answer; none where the model aligns no words."""
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

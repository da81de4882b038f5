"""View: the best document phrase for each query phrase, level by level."""

import re
from dataclasses import asdict, dataclass

import numpy as np

from matchwork.explain.explanation import Explanation
from matchwork.explain.titles import PHRASE_WEIGHT, RELEVANCE
from matchwork.explain.view import VIEWS, TokenIndex, View
from matchwork.ordering import order
from matchwork.report.page import Table


@dataclass(frozen=True)
class PhraseMatch:
    """A query phrase and the document phrase it matches best; `feature` is value times weight.

    `row` and `column` are the indices of their first words, `value` is the cell of the table,
    `weight` the weight of the query phrase. The model reads `feature`.
    """

    query: str
    document: str
    row: TokenIndex
    column: TokenIndex
    value: float
    weight: float
    feature: float


@dataclass(frozen=True)
class LevelMatches:
    """The matches of all query phrases of one length, the strongest first."""

    level: int
    phrase_length: int
    matches: list[PhraseMatch]

    @property
    def title(self) -> str:
        """Title of the level."""
        words = "words" if self.phrase_length == 1 else f"phrases of {self.phrase_length} words"
        return f"Level {self.level}: {words}"

    def rows(self, top_k: int) -> list[tuple[str, str, float, float, float]]:
        """Return query, document, value, weight and feature of the first `top_k` matches."""
        return [(m.query, m.document, m.value, m.weight, m.feature) for m in self.matches[:top_k]]


HEADER = ("query phrase", "best document phrase", "match", "weight", "feature")
MAX_ROWS = 5  # per level, where not all of them fit


def phrase_matches(explanation: Explanation) -> list[LevelMatches]:
    """Return every level of relevance, words first; none for models without levels."""
    return [
        _level(explanation, int(level[1]))
        for name, table in explanation.tables.items()
        if (level := re.fullmatch(rf"{RELEVANCE}(\d+)", name)) and table.size
    ]


def _level(explanation: Explanation, level: int) -> LevelMatches:
    name = f"{RELEVANCE}{level}"
    table, length = explanation.tables[name], explanation.phrase_length(name)
    weights = explanation.weights[f"{PHRASE_WEIGHT}{level}"].values
    columns = table.argmax(axis=1)
    values = table[np.arange(len(table)), columns]
    features = values * weights
    matches = [
        PhraseMatch(
            explanation.phrase("query", row, length),
            explanation.phrase("document", int(columns[row]), length),
            row,
            int(columns[row]),
            float(values[row]),
            float(weights[row]),
            float(features[row]),
        )
        for row in order(features).tolist()
    ]
    return LevelMatches(level, length, matches)


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    tables = []
    for level in phrase_matches(explanation):
        total = len(level.matches)
        rows = level.rows(total if top_k is None else min(top_k, MAX_ROWS))
        left = total - len(rows)
        note = f"{left} more, see --json or --out" if left else ""
        tables.append(Table(HEADER, rows, level.title, note))
    return tables


VIEWS.add(
    "phrases",
    View(
        title="Which phrases were found",
        order=20,
        tables=_tables,
        data=lambda found: list(map(asdict, phrase_matches(found))),
        schema=list[LevelMatches],
    ),
)

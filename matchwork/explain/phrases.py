"""Which query phrase found which document phrase, level by level."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matchwork.explain.explanation import Explanation
from matchwork.explain.titles import PHRASE_WEIGHT, RELEVANCE
from matchwork.ordering import order


class PhraseMatch(NamedTuple):
    """A query phrase, the document phrase that it matches best, and how well.

    `row` and `column` are the places of their first words; `value` is the cell of the table,
    `weight` that of the query phrase.
    """

    query: str
    document: str
    row: int
    column: int
    value: float
    weight: float

    @property
    def feature(self) -> float:
        """What the model reads: the value times the weight."""
        return self.value * self.weight


@dataclass(frozen=True)
class LevelMatches:
    """The matches of all query phrases at one level, the strongest first."""

    level: int
    phrase_length: int
    matches: tuple[PhraseMatch, ...]

    @property
    def title(self) -> str:
        """What a reader is told."""
        words = "words" if self.phrase_length == 1 else f"phrases of {self.phrase_length} words"
        return f"Level {self.level}: {words}"

    def rows(self, top_k: int) -> list[tuple[str, str, float, float, float]]:
        """Query, document, value, weight and feature of the first matches."""
        return [(m.query, m.document, m.value, m.weight, m.feature) for m in self.matches[:top_k]]

    def to_json(self) -> dict[str, Any]:
        """Every match."""
        return {
            "level": self.level,
            "phrase_length": self.phrase_length,
            "matches": [{**match._asdict(), "feature": match.feature} for match in self.matches],
        }


HEADER = ("query phrase", "best document phrase", "match", "weight", "feature")


def phrase_matches(explanation: Explanation) -> list[LevelMatches]:
    """Every level of relevance, words first; none where a text is empty or the model has none."""
    return [
        _level(explanation, int(found[1]))
        for name, table in explanation.tables.items()
        if (found := re.fullmatch(rf"{RELEVANCE}(\d+)", name)) and table.size
    ]


def _level(explanation: Explanation, level: int) -> LevelMatches:
    name = f"{RELEVANCE}{level}"
    table, length = explanation.tables[name], explanation.phrase_length(name)
    weights = explanation.weights[f"{PHRASE_WEIGHT}{level}"].values
    columns = table.argmax(axis=1)
    values = table[np.arange(len(table)), columns]
    matches = (
        PhraseMatch(
            explanation.phrase("query", row, length),
            explanation.phrase("document", int(columns[row]), length),
            row,
            int(columns[row]),
            float(values[row]),
            float(weights[row]),
        )
        for row in order(values * weights).tolist()
    )
    return LevelMatches(level, length, tuple(matches))

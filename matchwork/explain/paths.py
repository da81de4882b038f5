"""The matching path of a pair: how a spatial GRU walked through the two texts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from matchwork.explain.explanation import Explanation, WordPair

if TYPE_CHECKING:
    from matchwork.models.match_srnn.matching_path import PathCell

Rule: TypeAlias = Literal["gates", "merged"]
GATES = ("gate_left", "gate_top", "gate_diagonal", "gate_input")
"""Tables a model gives that walks through the grid; `_reverse` follows for its way back."""
INTERACTION = "interaction"


@dataclass(frozen=True)
class MatchingPath:
    """Cells in the order of the texts.

    `rule`: a diagonal step needs its own gate to be the largest ("gates", as in the paper), or
    that gate and the one of the input together ("merged"). `reverse` paths are those of a scan
    from the end: its left neighbour is the next document word, its top the next query word.
    """

    rule: Rule
    reverse: bool
    cells: tuple["PathCell", ...]

    @property
    def places(self) -> list[tuple[int, int]]:
        """Where it goes; how it leaves the grid at the end cannot be seen."""
        return [(cell.row, cell.column) for cell in self.cells]

    @property
    def title(self) -> str:
        """What a reader is told."""
        parts = ["Matching path", "read backwards" * self.reverse, _RULES[self.rule]]
        return ", ".join(filter(None, parts))

    def aligned(self, explanation: Explanation) -> list[WordPair]:
        """The word pairs that the path crosses diagonally, with their interaction."""
        values = explanation.table(INTERACTION)
        return [
            WordPair(
                explanation.query_tokens[row].text,
                explanation.document_tokens[column].text,
                float(values[row, column]),
            )
            for row, column, move in self.cells
            if move == "diagonal"
        ]

    def to_json(self, explanation: Explanation) -> dict[str, Any]:
        """Every cell with its words."""
        return {
            "rule": self.rule,
            "reverse": self.reverse,
            "cells": [
                {
                    **cell._asdict(),
                    "query": explanation.query_tokens[cell.row].text,
                    "document": explanation.document_tokens[cell.column].text,
                }
                for cell in self.cells
            ],
        }


_RULES: dict[Rule, str] = {
    "gates": "",
    "merged": "new matches counted as diagonal",
}


def matching_paths(explanation: Explanation) -> list[MatchingPath]:
    """The paths of each scan that the model gives gates for; both rules where they differ."""
    paths = []
    for reverse in (False, True):
        names = [name + "_reverse" * reverse for name in GATES]
        if explanation.tables.keys() >= {INTERACTION, *names}:
            plain = _path(explanation, names, "gates", reverse)
            merged = _path(explanation, names, "merged", reverse)
            paths += [plain] if merged.cells == plain.cells else [plain, merged]
    return [path for path in paths if path.cells]


def _path(explanation: Explanation, names: list[str], rule: Rule, reverse: bool) -> MatchingPath:
    # Only here: most explanations have no path, and do not wait for torch.
    from matchwork.models.match_srnn.matching_path import matching_path

    tables = [explanation.tables[name] for name in names]
    if rule == "gates":
        tables = tables[:3]
    if not reverse:
        return MatchingPath(rule, reverse, tuple(reversed(matching_path(*tables))))
    turned = matching_path(*(table[::-1, ::-1] for table in tables))
    last_row, last_column = (length - 1 for length in tables[0].shape)
    cells = (c._replace(row=last_row - c.row, column=last_column - c.column) for c in turned)
    return MatchingPath(rule, reverse, tuple(cells))

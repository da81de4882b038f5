"""View: the matching path of a pair, along which a spatial GRU walked through the texts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from typing_extensions import TypedDict

from matchwork.explain.explanation import Explanation, WordPair
from matchwork.explain.view import VIEWS, TokenIndex, View
from matchwork.report.page import Table

if TYPE_CHECKING:
    from matchwork.models.match_srnn.matching_path import PathCell

Rule: TypeAlias = Literal["gates", "merged"]
GATES = ("gate_left", "gate_top", "gate_diagonal", "gate_input")
"""Names of the gates of a scan; those of a scan from the end have `_reverse` after them."""
INTERACTION = "interaction"


@dataclass(frozen=True)
class MatchingPath:
    """Cells in the order of the texts.

    Args:
        rule: Which gate means a diagonal step: its own ("gates", as in the paper), or its own and
            the gate of the input together ("merged").
        reverse: Whether the scan starts at the end of the texts. Its left neighbour is then the
            next document word, its top neighbour the next query word.
        cells: The cells, each with the move away from it.
    """

    rule: Rule
    reverse: bool
    cells: tuple["PathCell", ...]

    @property
    def positions(self) -> list[tuple[int, int]]:
        """Row and column of each cell."""
        return [(cell.row, cell.column) for cell in self.cells]

    @property
    def title(self) -> str:
        """Title of the path."""
        parts = ["Matching path", "read backwards" * self.reverse, _RULES[self.rule]]
        return ", ".join(filter(None, parts))

    def aligned(self, explanation: Explanation) -> list[WordPair]:
        """Return the word pairs that the path crosses diagonally, with their interaction."""
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

    def to_dict(self, explanation: Explanation) -> dict[str, Any]:
        """Return every cell with its words as plain values."""
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


class PathCellJson(TypedDict):
    """A cell of a matching path, and how the path left it."""

    row: TokenIndex
    column: TokenIndex
    move: str
    query: str
    document: str


class PathJson(TypedDict):
    """The path of a spatial recurrent network through the two texts."""

    rule: Rule
    reverse: bool
    cells: list[PathCellJson]


_RULES: dict[Rule, str] = {
    "gates": "",
    "merged": "new matches counted as diagonal",
}


def matching_paths(explanation: Explanation) -> list[MatchingPath]:
    """Return the paths of each scan the model gives gates for; both rules where they differ."""
    paths = []
    for reverse in (False, True):
        names = [name + "_reverse" * reverse for name in GATES]
        if explanation.tables.keys() >= {INTERACTION, *names}:
            plain = _path(explanation, names, "gates", reverse)
            merged = _path(explanation, names, "merged", reverse)
            paths += [plain] if merged.cells == plain.cells else [plain, merged]
    return [path for path in paths if path.cells]


def _path(explanation: Explanation, names: list[str], rule: Rule, reverse: bool) -> MatchingPath:
    # Imported here, since importing models takes torch, which most explanations do not need.
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


def _tables(explanation: Explanation, top_k: int | None) -> list[Table]:
    return [
        Table(["query", "document", "interaction"], rows, path.title)
        for path in matching_paths(explanation)
        if (rows := path.aligned(explanation))
    ]


def _notes(explanation: Explanation) -> list[str]:
    return [
        f"{path.title}: no step crosses a pair of words diagonally"
        for path in matching_paths(explanation)
        if not path.aligned(explanation)
    ]


VIEWS.add(
    "paths",
    View(
        title="Which words the matching path aligns",
        order=70,
        tables=_tables,
        notes=_notes,
        data=lambda found: [path.to_dict(found) for path in matching_paths(found)],
        schema=list[PathJson],
    ),
)

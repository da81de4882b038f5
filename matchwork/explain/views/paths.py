"""View: the matching path of a pair, along which a spatial GRU walked through the texts."""

from dataclasses import asdict, dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from matchwork.explain.explanation import Explanation, WordPair
from matchwork.explain.view import VIEWS, TokenIndex, View
from matchwork.report.page import Table

Rule: TypeAlias = Literal["gates", "merged"]
GATES = ("gate_left", "gate_top", "gate_diagonal", "gate_input")
"""Names of the gates of a scan; those of a scan from the end have `_reverse` after them."""
INTERACTION = "interaction"
_RULES: dict[Rule, str] = {"gates": "", "merged": "new matches counted as diagonal"}


@dataclass(frozen=True)
class PathStep:
    """A cell of a matching path, and how the path left it."""

    row: TokenIndex
    column: TokenIndex
    move: str
    query: str
    document: str


@dataclass(frozen=True)
class MatchingPath:
    """The path of a spatial recurrent network through the two texts, in their order."""

    rule: Annotated[
        Rule,
        Field(
            description="Which gate means a diagonal step: its own (gates, as in the paper), or "
            "its own and the gate of the input together (merged)."
        ),
    ]
    reverse: Annotated[
        bool,
        Field(
            description="Whether the scan starts at the end of the texts. Its left neighbour is "
            "then the next document word, its top neighbour the next query word."
        ),
    ]
    cells: list[PathStep]

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
            WordPair(cell.query, cell.document, float(values[cell.row, cell.column]))
            for cell in self.cells
            if cell.move == "diagonal"
        ]


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

    turn = slice(None, None, -1 if reverse else 1)
    tables = [explanation.tables[name][turn, turn] for name in names]
    queries = [token.text for token in explanation.query_tokens][turn]
    documents = [token.text for token in explanation.document_tokens][turn]
    rows, columns = range(len(queries))[turn], range(len(documents))[turn]
    cells = [
        PathStep(rows[row], columns[column], move, queries[row], documents[column])
        for row, column, move in matching_path(*(tables if rule == "merged" else tables[:3]))
    ]
    return MatchingPath(rule, reverse, cells if reverse else cells[::-1])


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
        data=lambda found: list(map(asdict, matching_paths(found))),
        schema=list[MatchingPath],
    ),
)

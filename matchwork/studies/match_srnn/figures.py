"""Whether a matcher trained on LCS lengths has learnt the recursion behind them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchwork.data import Split
from matchwork.data.sets.lcs import lcs_table
from matchwork.evaluate import evaluate_regression
from matchwork.matcher import Matcher
from matchwork.models.match_srnn.matching_path import STEPS, PathCell, matching_path
from matchwork.types import TextPair

Grid = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LCSFigures:
    """The four figures of the simulation.

    Args:
        mse: Squared error of the last state, whose target is LCS / 10.
        exact: Share of pairs whose last state rounds to the right length.
        cell_error: Mean absolute error over the cells of all pairs, in letters, against the table
            of dynamic programming, of which training saw only the last cell.
        path_agreement: Share of pairs whose matching path dynamic programming could follow back.
    """

    mse: float
    exact: float
    cell_error: float
    path_agreement: float


@dataclass(frozen=True)
class LCSGrid:
    """One pair of letter sequences: states (10 h), shape (rows, columns), and the four gates.

    `gates`, shape (4, rows, columns): of the new match, from the left, top and diagonal.
    """

    query: list[str]
    document: list[str]
    states: Grid
    gates: Grid

    @property
    def lcs(self) -> npt.NDArray[np.int64]:
        """Table of dynamic programming for these cells."""
        return lcs_table(self.query, self.document)[1:, 1:]

    @property
    def path(self) -> list[PathCell]:
        """Path back, with the gate of the new match counted as diagonal (rule B)."""
        new, left, top, diagonal = self.gates
        return matching_path(left, top, diagonal, new)

    @property
    def agrees(self) -> bool:
        """Whether dynamic programming could follow the path back, whichever of equals it takes.

        It could if every step explains the length before it: a step to the side keeps the length,
        a diagonal step loses 1 if its two letters are equal.
        """
        table = lcs_table(self.query, self.document)
        for row, column, move in self.path:
            up, back = STEPS[move]
            match = move == "diagonal" and self.query[row] == self.document[column]
            if table[row + 1, column + 1] != table[row + 1 - up, column + 1 - back] + match:
                return False
        return True


def lcs_figures(matcher: Matcher, split: Split) -> LCSFigures:
    """Return all four figures of a matcher whose score is the last state (`head = "state"`)."""
    pairs = list(split.pairs())
    grids = list(lcs_grids(matcher, [(p.query, p.document) for p in pairs], split.label_scale))
    last = [grid.states[-1, -1] / split.label_scale for grid in grids]
    measures = evaluate_regression(last, [p.label for p in pairs], label_scale=split.label_scale)
    errors = np.concatenate([np.abs(grid.states - grid.lcs).ravel() for grid in grids])
    agreement = float(np.mean([grid.agrees for grid in grids]))
    return LCSFigures(measures["MSE"], measures["Exact"], float(errors.mean()), agreement)


def lcs_grids(matcher: Matcher, pairs: Iterable[TextPair], label_scale: float) -> Iterator[LCSGrid]:
    """Yield the grids of pairs of blank-separated letters, in order."""
    pairs = list(pairs)
    grids: dict[int, LCSGrid] = {}
    for positions, output in matcher.outputs(pairs):
        names = ("state", "gate_input", "gate_left", "gate_top", "gate_diagonal")
        tables = np.stack([output.evidence[name].values.double().cpu().numpy() for name in names])
        for item, position in enumerate(positions.tolist()):
            query, document = (text.split() for text in pairs[position])
            cells = tables[:, item, : len(query), : len(document)]
            grids[position] = LCSGrid(query, document, cells[0] * label_scale, cells[1:])
    yield from (grids[position] for position in range(len(pairs)))

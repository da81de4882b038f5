"""The matching path of a spatial GRU: the earlier cells that the last state was taken from.

Wan et al., Match-SRNN, IJCAI 2016: from the last cell, follow the largest gate until a border.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Move: TypeAlias = Literal["diagonal", "left", "top"]
Table: TypeAlias = npt.NDArray[np.float64]
STEPS: dict[Move, tuple[int, int]] = {"diagonal": (1, 1), "left": (0, 1), "top": (1, 0)}
"""Rows and columns that each move goes back."""


class PathCell(NamedTuple):
    """A cell (row and column from 0) and the move that the path takes from it."""

    row: int
    column: int
    move: Move


def matching_path(
    left: Table, top: Table, diagonal: Table, candidate: Table | None = None
) -> list[PathCell]:
    """Return the cells of the path, from the last one back to the border.

    Gates are those of one pair without padding, shape (rows, columns). Of equal gates the diagonal
    wins, then left. Gates of the `candidate`, if given, are added to those of the diagonal
    ("rule B"): a model that counts matches adds them to the diagonal state in its candidate.
    """
    shapes = {gate.shape for gate in (left, top, diagonal, candidate) if gate is not None}
    if len(shapes) > 1 or left.ndim != 2:
        raise ValueError(f"gates are tables of one shape (rows, columns), got {sorted(shapes)}")
    if candidate is not None:
        diagonal = diagonal + candidate
    strongest = np.stack([diagonal, left, top]).argmax(axis=0)
    moves = list(STEPS)
    path: list[PathCell] = []
    row, column = left.shape[0] - 1, left.shape[1] - 1
    while row >= 0 and column >= 0:
        move = moves[strongest[row, column]]
        path.append(PathCell(row, column, move))
        up, back = STEPS[move]
        row, column = row - up, column - back
    return path

"""The matching path of a spatial GRU: which earlier cell each state was mostly taken from.

Wan et al., Match-SRNN, IJCAI 2016: from the last cell, go where the largest gate
points to, until a border is hit.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Move: TypeAlias = Literal["diagonal", "left", "top"]
Table: TypeAlias = npt.NDArray[np.float64]
STEPS: dict[Move, tuple[int, int]] = {"diagonal": (1, 1), "left": (0, 1), "top": (1, 0)}
"""Rows and columns that a move goes back."""


class PathCell(NamedTuple):
    """A cell, rows and columns counted from 0, and where its path goes from here."""

    row: int
    column: int
    move: Move


def matching_path(
    left: Table, top: Table, diagonal: Table, candidate: Table | None = None
) -> list[PathCell]:
    """The cells from the last one to the border, back in time.

    The arguments are the gates of one pair, shape (rows, columns), without padding. With
    `candidate`, the gate of the input, its strength is added to that of the diagonal ("rule B"):
    a model that counts matches adds them to the diagonal state inside its candidate, so that
    this gate, too, leads back there. Equal gates: diagonal first, then left, then top.
    """
    shapes = {gate.shape for gate in (left, top, diagonal, candidate) if gate is not None}
    if len(shapes) > 1 or left.ndim != 2:
        raise ValueError(f"gates are tables of one shape (rows, columns), got {sorted(shapes)}")
    if candidate is not None:
        diagonal = diagonal + candidate
    strongest = np.stack([diagonal, left, top]).argmax(axis=0)  # the first of equals
    moves = list(STEPS)
    path: list[PathCell] = []
    row, column = left.shape[0] - 1, left.shape[1] - 1
    while row >= 0 and column >= 0:
        move = moves[strongest[row, column]]
        path.append(PathCell(row, column, move))
        up, back = STEPS[move]
        row, column = row - up, column - back
    return path

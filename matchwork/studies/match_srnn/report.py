"""The page of the LCS demo: the figures, and tables (a), (b) and (c) of the paper's figure 4."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matchwork.explain.views.tables import FORWARD
from matchwork.report.altair import Chart, alt
from matchwork.report.drawing import chart_of, word_axis
from matchwork.report.page import Figure, Heading, Paragraph, Section, Table, write_report
from matchwork.studies.match_srnn.figures import LCSFigures, LCSGrid

if TYPE_CHECKING:
    from matchwork.studies.match_srnn.lcs import LCSDemo

CELL = 74  # pixels: three gates stand in one
NAMES = {
    "mse": "mean squared error of h (target LCS / 10)",
    "exact": "right length, rounded",
    "cell_error": "mean absolute error of all cells, in letters",
    "path_agreement": "matching path agrees with dynamic programming",
}
CAPTIONS = {
    "lcs": "(a) Dynamic programming: LCS of the first letters",
    "states": "(b) What Match-SRNN learnt: 10 h",
    "gates": "(c) Its gates: ← left, ↑ top, ↖ diagonal and new match; and the path back",
}


def figure_rows(result: "LCSDemo") -> list[list[str]]:
    """Return a row per figure: mean and deviation over the seeds, then every seed."""
    rows = []
    for field in fields(LCSFigures):
        mean, spread = result.mean_and_spread(field.name)
        seeds = [f"{getattr(found, field.name):.4g}" for found in result.figures.values()]
        rows.append([NAMES[field.name], f"{mean:.4g} ± {spread:.2g}", *seeds])
    return rows


def grid_texts(grid: LCSGrid) -> dict[str, list[list[str]]]:
    """Return the cells of the three tables as texts, a row per query letter."""
    new, left, top, diagonal = grid.gates
    return {
        "lcs": [[str(value) for value in row] for row in grid.lcs],
        "states": [[f"{value:z.2f}" for value in row] for row in grid.states],
        "gates": [
            [
                f"←{left[cell]:.2f} ↑{top[cell]:.2f} ↖{new[cell] + diagonal[cell]:.2f}"
                for cell in ((row, column) for column in range(len(grid.document)))
            ]
            for row in range(len(grid.query))
        ],
    }


def path_line(grid: LCSGrid) -> str:
    """Return the path back in words: cells from 1, as in the paper; matches in brackets."""
    cells = []
    for row, column, move in grid.path:
        match = move == "diagonal" and grid.query[row] == grid.document[column]
        cells.append(f"({row + 1}, {column + 1})" + (f" [{grid.query[row]}]" if match else ""))
    return " → ".join(cells)


def write_lcs_report(result: "LCSDemo") -> None:
    """Write figures and tables as a page."""
    splits = result.dataset.splits
    header = ["figure", "mean ± deviation", *(f"seed {seed}" for seed in result.figures)]
    grid, texts = result.grid, grid_texts(result.grid)
    pictures: list[Section] = [
        Figure(_picture(grid, grid.lcs, texts["lcs"]), CAPTIONS["lcs"]),
        Figure(_picture(grid, grid.states, texts["states"]), CAPTIONS["states"]),
        Figure(_picture(grid, grid.states, texts["gates"], with_path=True), CAPTIONS["gates"]),
    ]
    write_report(
        result.report,
        "Match-SRNN learns to count common subsequences",
        [
            Paragraph(
                f"Trained on {len(splits['train'].queries):,} pairs of random strings and the "
                "length of their longest common subsequence (LCS), measured on "
                f"{len(splits['test'].queries):,} more. The model has one unit, sees which "
                "letters are equal, and is told nothing about the cells inside the grid."
            ),
            Table(header, figure_rows(result)),
            Heading(f"{''.join(grid.query)} against {''.join(grid.document)}"),
            *pictures,
            Paragraph(f"Path back: {path_line(grid)}."),
        ],
    )


def _picture(
    grid: LCSGrid,
    values: npt.NDArray[np.generic],
    texts: Sequence[Sequence[str]],
    with_path: bool = False,
) -> Chart:
    """Draw letters against letters with text in the cells, darker for larger values."""
    cells = [
        {"q": q, "d": d, "text": text.split(" "), "value": float(values[q, d])}
        for q, row in enumerate(texts)
        for d, text in enumerate(row)
    ]
    across = alt.X("d:O", title=None, axis=word_axis(grid.document, labelAngle=0))
    down = alt.Y("q:O", title=None, axis=word_axis(grid.query, labelAngle=0))
    base = chart_of(cells).encode(x=across, y=down)
    shade = alt.Color("value:Q", legend=None, scale=alt.Scale(scheme="blues", domain=[0, 8]))
    first_line = -15 if with_path else 0  # three gates stand one below the other
    layers = [
        base.mark_rect(stroke="#8888").encode(color=shade),
        base.mark_text(fontSize=12, color="#111", lineHeight=15, dy=first_line).encode(
            text="text:N"
        ),
    ]
    if with_path:
        points = [{"q": c.row, "d": c.column, "step": i} for i, c in enumerate(grid.path)]
        steps = chart_of(points).encode(x=across, y=down, order="step:Q")
        layers.insert(1, steps.mark_line(color=FORWARD, strokeWidth=14, opacity=0.35))
    size = alt.Step(CELL if with_path else CELL // 2)
    chart: Chart = alt.layer(*layers).properties(width=size, height=size)
    return chart

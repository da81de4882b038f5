"""The demo: a real matcher trained, compared with BM25, explained and saved, in minutes."""

from matchwork.demo.lcs import LCSDemo, run_lcs_demo
from matchwork.demo.lcs_figures import LCSFigures, LCSGrid, lcs_figures, lcs_grids
from matchwork.demo.run import DemoResult, run_demo

__all__ = [
    "DemoResult",
    "LCSDemo",
    "LCSFigures",
    "LCSGrid",
    "lcs_figures",
    "lcs_grids",
    "run_demo",
    "run_lcs_demo",
]

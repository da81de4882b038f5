"""The simulation of the Match-SRNN paper: does it learn the longest common subsequence?"""

from matchwork.studies.match_srnn.figures import LCSFigures, LCSGrid, lcs_figures, lcs_grids
from matchwork.studies.match_srnn.lcs import LCSDemo, run_lcs_demo

__all__ = ["LCSDemo", "LCSFigures", "LCSGrid", "lcs_figures", "lcs_grids", "run_lcs_demo"]

"""The simulation of the Match-SRNN paper: does it learn the longest common subsequence?"""

from matchwork.studies.match_srnn.figures import LCSGrid as LCSGrid
from matchwork.studies.match_srnn.figures import lcs_figures as lcs_figures
from matchwork.studies.match_srnn.figures import lcs_grids as lcs_grids
from matchwork.studies.match_srnn.lcs import LCSDemo as LCSDemo
from matchwork.studies.match_srnn.lcs import run_lcs_demo as run_lcs_demo

"""SCORE -> RANKING without tensors: BM25, RM3, ordering, fusion and calibration."""

from matchwork.packages import make_callable
from matchwork.rank.bm25 import BM25
from matchwork.rank.calibration import Calibration
from matchwork.rank.pipeline import Pipeline
from matchwork.rank.ranking import rank, rank_all

__all__ = ["BM25", "Calibration", "Pipeline", "rank", "rank_all"]

make_callable(__name__)

"""Ranking without tensors: BM25, RM3, reranking, fusion and calibration."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names

if TYPE_CHECKING:
    from matchwork.rank.bm25 import BM25 as BM25
    from matchwork.rank.calibration import Calibration as Calibration
    from matchwork.rank.pipeline import Pipeline as Pipeline
    from matchwork.rank.ranking import rerank as rerank
    from matchwork.rank.runs import rank_all as rank_all

_HOMES = {
    "BM25": "matchwork.rank.bm25",
    "Calibration": "matchwork.rank.calibration",
    "Pipeline": "matchwork.rank.pipeline",
    "rank_all": "matchwork.rank.runs",
    "rerank": "matchwork.rank.ranking",
}

__getattr__ = lazy_names(__name__, _HOMES)

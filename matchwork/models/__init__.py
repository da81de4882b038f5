"""INTERACTION -> SCORE: one file per model; importing this package registers them all."""

from matchwork.models.bag import BagMatcher, BagMatcherConfig
from matchwork.models.base import MODELS, MatchModel, MatchOutput, ModelConfig, register
from matchwork.models.hcan import HCAN, HCANConfig
from matchwork.models.iasm import IASM, IASMConfig
from matchwork.models.knrm import KNRM, KNRMConfig
from matchwork.models.match_srnn import MatchSRNN, MatchSRNNConfig

__all__ = [
    "HCAN",
    "IASM",
    "KNRM",
    "MODELS",
    "BagMatcher",
    "BagMatcherConfig",
    "HCANConfig",
    "IASMConfig",
    "KNRMConfig",
    "MatchModel",
    "MatchOutput",
    "MatchSRNN",
    "MatchSRNNConfig",
    "ModelConfig",
    "register",
]

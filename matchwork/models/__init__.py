"""INTERACTION -> SCORE: one file per model; importing this package registers them all."""

from matchwork.models.bag import BagMatcher, BagMatcherConfig
from matchwork.models.base import MODELS, MatchModel, MatchOutput, ModelConfig, register
from matchwork.models.iasm import IASM, IASMConfig

__all__ = [
    "IASM",
    "MODELS",
    "BagMatcher",
    "BagMatcherConfig",
    "IASMConfig",
    "MatchModel",
    "MatchOutput",
    "ModelConfig",
    "register",
]

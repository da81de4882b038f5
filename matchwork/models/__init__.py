"""Models: interactions to scores, a file or folder per paper; importing this registers them."""

from matchwork.models.addax.model import ADDAX, AddaxConfig
from matchwork.models.bag import BagMatcher, BagMatcherConfig
from matchwork.models.base import (
    MODELS,
    FitsFeatureMeans,
    MatchModel,
    MatchOutput,
    Model,
    ModelConfig,
    ModelEntry,
    PairModel,
    bi_encoded,
    register,
)
from matchwork.models.bi_encoder import BiEncoder, BiEncoderConfig
from matchwork.models.colbert import ColBERT, ColBERTConfig
from matchwork.models.cross_encoder import CrossEncoder, CrossEncoderConfig
from matchwork.models.hcan.config import HCANConfig
from matchwork.models.hcan.model import HCAN
from matchwork.models.iam.model import IAM, IAMConfig
from matchwork.models.iasm.model import IASM, IASMConfig
from matchwork.models.knrm import KNRM, KNRMConfig
from matchwork.models.match_srnn.model import MatchSRNN, MatchSRNNConfig
from matchwork.models.stage import Stage, StageBatch, StageConfig, Staged, StagedConfig, Texts

__all__ = [
    "ADDAX",
    "HCAN",
    "IAM",
    "IASM",
    "KNRM",
    "MODELS",
    "AddaxConfig",
    "BagMatcher",
    "BagMatcherConfig",
    "BiEncoder",
    "BiEncoderConfig",
    "ColBERT",
    "ColBERTConfig",
    "CrossEncoder",
    "CrossEncoderConfig",
    "FitsFeatureMeans",
    "HCANConfig",
    "IAMConfig",
    "IASMConfig",
    "KNRMConfig",
    "MatchModel",
    "MatchOutput",
    "MatchSRNN",
    "MatchSRNNConfig",
    "Model",
    "ModelConfig",
    "ModelEntry",
    "PairModel",
    "Stage",
    "StageBatch",
    "StageConfig",
    "Staged",
    "StagedConfig",
    "Texts",
    "bi_encoded",
    "register",
]

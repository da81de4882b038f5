"""Settings of HCAN, and the differences of the paper and its code."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from matchwork.errors import ConfigError
from matchwork.inputs import require_at_least, require_dropout
from matchwork.models.base import ModelConfig
from matchwork.models.hcan.levels import LevelKind
from matchwork.models.hcan.relevance import Competitors
from matchwork.models.hcan.semantic import Pooling, Salience


class Preset(NamedTuple):
    """The differences of the paper and its code; see also `relevance` and `SemanticMatching`."""

    competitors: Competitors
    mean_feature: bool  # whether relevance features include the means
    first_level: int  # that is matched for relevance
    weighted_levels: int | None  # with phrase weights, from the words on; None: all
    salience: Salience
    pooling: Pooling
    rectify: bool  # a ReLU on the input of BiLSTMs on contextual levels
    head_layers: int  # hidden layers of the classifier


PRESETS = {
    "paper": Preset("document", True, 1, None, "attention", "last", False, 1),
    "code": Preset("query", False, 0, 2, "scores", "max-mean", True, 2),
}


@dataclass(frozen=True, kw_only=True)
class HCANConfig(ModelConfig):
    """Settings of `HCAN`."""

    parts: Literal["both", "relevance", "semantic"] = "both"  # of the model
    preset: Literal["paper", "code"] = "code"  # variant of the model, see `PRESETS`
    encoder: LevelKind = "deep"  # kind of the shared encoder, see `Levels`
    num_layers: int = 4  # layers of the encoder
    filters: int = 128  # width of its layers
    kernel: int = 2  # width of its (first) convolution, in words
    hidden: int = 150  # width of the BiLSTM's pooled output ("paper") and of the classifier
    dropout: float = 0.0  # dropout in the encoder
    query_length: int = 40  # longest query; relevance features belong to positions
    num_classes: int = 2  # number of classes
    phrase_weights: bool = False  # weigh query phrases by rarity; off in the authors' code

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_layers", "kernel", "query_length")
        require_at_least(self, 2, "filters", "num_classes")
        require_at_least(self, 4, "hidden")
        require_dropout(self, "dropout")
        for name in ("filters", "hidden"):
            if getattr(self, name) % 2:
                raise ConfigError(f"{name} must be even, got {getattr(self, name)}")

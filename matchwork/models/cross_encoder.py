"""Cross-encoder: both texts in one sequence, `[CLS] query [SEP] document [SEP]`.

Nogueira and Cho, Passage Re-ranking with BERT, 2019, arXiv:1901.04085. Every layer of the
transformer sees both texts, which is the most accurate way to use it and the slowest: no
document can be encoded before its query is known.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from matchwork.encode import Encoder, TransformerEncoder
from matchwork.errors import ConfigError
from matchwork.inputs import require_dropout
from matchwork.interact import LazyMapping, cosine
from matchwork.interact.similarity import ScoreLayer
from matchwork.models.base import FINE_TUNING, MatchOutput, ModelConfig, PairModel, register
from matchwork.text import PairBatch

_ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU, "gelu": nn.GELU}


@dataclass(frozen=True, kw_only=True)
class CrossEncoderConfig(ModelConfig):
    """Settings of the relevance head: a dense layer on the vector of [CLS]."""

    activation: Literal["tanh", "relu", "gelu"] = "tanh"  # activation of the dense layer
    dropout: float = 0.1  # dropout before the output

    def __post_init__(self) -> None:
        require_dropout(self, "dropout")


@register("cross-encoder")
class CrossEncoder(PairModel):
    """Score = v . activation(W [CLS] + b) + c, the logit of relevance."""

    Config: ClassVar[type[ModelConfig]] = CrossEncoderConfig
    config: CrossEncoderConfig
    encoder: TransformerEncoder
    matches_tokens: ClassVar[bool] = False
    training_defaults: ClassVar[dict[str, Any]] = {
        **FINE_TUNING,
        "loss": "cross-entropy",
        "negatives": "labelled",
        "learning_rate": 3e-5,
        "max_epochs": 4,
    }

    def __init__(self, config: CrossEncoderConfig, encoder: Encoder) -> None:
        if not isinstance(encoder, TransformerEncoder):
            raise ConfigError(
                "a cross-encoder needs a transformer, which reads two texts at once, not "
                f'{encoder.kind!r}; use vectors.source = "transformer"'
            )
        super().__init__(config, encoder)
        self.dense = nn.Linear(encoder.dim, encoder.dim)
        self.activation = _ACTIVATIONS[config.activation]()
        self.dropout = nn.Dropout(config.dropout)
        self.output = ScoreLayer(encoder.dim, 1)

    def forward(self, batch: PairBatch) -> MatchOutput:
        """Read both texts at once; the evidence, cosines of tokens, is not what the head reads."""
        joined = self.encoder.encode_pair(batch.query, batch.document)
        evidence = LazyMapping(lambda: {"similarity": cosine(joined.query, joined.document)})
        return MatchOutput(self._head(joined.first), evidence)

    def scores(self, batch: PairBatch) -> Tensor:
        """Return scores only: the last layer computes no vector but that of [CLS]."""
        return self._head(self.encoder.encode_pair_first(batch.query, batch.document))

    def _head(self, first: Tensor) -> Tensor:
        hidden = self.activation(self.dense(first))
        scores: Tensor = self.output(self.dropout(hidden)).squeeze(-1)
        return scores

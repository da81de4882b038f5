"""ColBERT: every query token is matched with its most similar document token.

Khattab and Zaharia, ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT, SIGIR 2020, arXiv:2004.12832. Departures: special tokens are read but not
matched, queries are not padded with [MASK], and the projection to fewer dimensions is optional,
so that an encoder can be used without any training.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from matchwork.encode import Encoded, Encoder
from matchwork.inputs import require_at_least, require_positive
from matchwork.interact import Evidence, Interaction, LazyMapping, WordWeights, max_sim
from matchwork.models.base import IN_BATCH, MatchModel, MatchOutput, ModelConfig, register
from matchwork.text import Sequences


@dataclass(frozen=True, kw_only=True)
class ColBERTConfig(ModelConfig):
    """Settings of `ColBERT`."""

    dim: int | None = None  # width of projected tokens (the paper: 128)
    scale: float = 1.0  # initial factor of the score, which training changes

    def __post_init__(self) -> None:
        require_at_least(self, 1, "dim")
        require_positive(self, "scale")


@register("colbert")
class ColBERT(MatchModel):
    """Score = scale * sum over query tokens of the largest cosine with a document token."""

    Config: ClassVar[type[ModelConfig]] = ColBERTConfig
    config: ColBERTConfig
    training_defaults: ClassVar[dict[str, Any]] = IN_BATCH

    def __init__(self, config: ColBERTConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        self.log_scale = nn.Parameter(torch.tensor(float(config.scale)).log())
        self.projection: nn.Module = nn.Identity()
        if config.dim is not None:
            self.projection = nn.Linear(encoder.dim, config.dim, bias=False)

    def post_encode(self, text: Encoded, sequences: Sequences) -> Encoded:
        """Project token vectors."""
        return Encoded(self.projection(text.vectors), text.mask, text.ids)

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Compute MaxSim; the evidence is all cosines and the largest one of every query token."""
        best = max_sim(query.vectors, document.vectors, query.mask, document.mask)
        evidence = LazyMapping[Evidence](
            lambda: {
                "similarity": Interaction(best.table, best.mask),
                "alignment": Interaction(best.alignment(), best.mask),
                "query_agreement": WordWeights(best.values, query.mask, "query"),
            }
        )
        return MatchOutput(self.log_scale.exp() * best.scores, evidence)

"""Bag of words: the cosine of two sums of word vectors; word order is ignored.

The simplest learned matcher, and strong with little training text: with vectors for words and
bigrams it learns which words mean the same. Trained with in-batch negatives (the other documents
of the batch), as in Henderson et al., Efficient Natural Language Response Suggestion for Smart
Reply, 2017, arXiv:1705.00652.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from matchwork.encode import Encoded, Encoder
from matchwork.inputs import require_positive
from matchwork.interact import Interaction, pair_mask, row_lengths, unit_rows
from matchwork.interact.similarity import EPSILON
from matchwork.models.base import MatchModel, MatchOutput, ModelConfig, register


@dataclass(frozen=True, kw_only=True)
class BagMatcherConfig(ModelConfig):
    """Settings of `BagMatcher`."""

    scale: float = 20.0  # initial factor of the cosine, which training changes

    def __post_init__(self) -> None:
        require_positive(self, "scale")


@register("bag")
class BagMatcher(MatchModel):
    """Score = scale * cos(sum of query vectors, sum of document vectors)."""

    Config: ClassVar[type[ModelConfig]] = BagMatcherConfig
    config: BagMatcherConfig
    training_defaults: ClassVar[dict[str, Any]] = {"loss": "softmax", "negatives": "in-batch"}

    def __init__(self, config: BagMatcherConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        self.log_scale = nn.Parameter(torch.tensor(float(config.scale)).log())

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Compute scores; the evidence is what each word pair adds to them."""
        q, d = _bag(query), _bag(document)
        scores = self.log_scale.exp() * (q * d).sum(dim=-1)
        lengths = row_lengths(query.vectors.sum(dim=1)) * row_lengths(document.vectors.sum(dim=1))
        shares = query.vectors @ document.vectors.transpose(1, 2)
        shares = self.log_scale.exp() * shares / lengths.clamp_min(EPSILON)[:, None, None]
        contribution = Interaction(shares, pair_mask(query, document))
        return MatchOutput(scores, {"contribution": contribution})

    def match_all(self, query: Encoded, document: Encoded) -> Tensor:
        """Score all pairs with one matrix product."""
        return self.log_scale.exp() * _bag(query) @ _bag(document).T


def _bag(text: Encoded) -> Tensor:
    return unit_rows(text.vectors.sum(dim=1))

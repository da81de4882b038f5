"""A model: the mean over query tokens of their best cosine in the document."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from matchwork.interact import cosine, masked_max, masked_mean
from matchwork.models import MatchModel, MatchOutput, ModelConfig, register


@dataclass(frozen=True, kw_only=True)
class BestMatchConfig(ModelConfig):
    """No settings."""


@register("extras-best-match")
class BestMatch(MatchModel):
    """Score = linear function of the mean best cosine."""

    Config = BestMatchConfig
    evidence_titles: ClassVar = {"nearness": "Nearness of words"}

    def __init__(self, config, encoder):
        super().__init__(config, encoder)
        self.head = nn.Linear(1, 1)

    def match(self, query, document):
        """Match row i of the queries with row i of the documents."""
        table = cosine(query, document)
        mean = masked_mean(masked_max(table.values, table.mask), query.mask)
        return MatchOutput(self.head(mean.unsqueeze(-1)).squeeze(-1), {"nearness": table})

"""Define a model: settings, equations and one `register` line.

The model takes the most similar document word of each query word (ColBERT's MaxSim) and learns
the scale of their mean.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

import matchwork as mw
from matchwork.encode import Encoded, Encoder
from matchwork.errors import ConfigError
from matchwork.interact import cosine, masked_max
from matchwork.models import MatchModel, MatchOutput, ModelConfig, register


@dataclass(frozen=True, kw_only=True)
class NearestWordConfig(ModelConfig):
    """`power` above 1 gives similar words more weight."""

    power: float = 3.0

    def __post_init__(self) -> None:
        if self.power <= 0:
            raise ConfigError(f"power must be positive, got {self.power}")


@register("nearest-word")
class NearestWord(MatchModel):
    """Score = scale * mean over query words of (nearest cosine) ** power."""

    Config: ClassVar[type[ModelConfig]] = NearestWordConfig
    config: NearestWordConfig

    def __init__(self, config: NearestWordConfig, encoder: Encoder) -> None:
        super().__init__(config, encoder)
        self.scale = nn.Parameter(torch.tensor(5.0))

    def match(self, query: Encoded, document: Encoded) -> MatchOutput:
        """Score a batch of pairs; padding is ignored."""
        similarity = cosine(query, document)
        nearest = masked_max(similarity.values, similarity.mask).clamp_min(1e-6)
        total = (nearest**self.config.power * query.mask).sum(dim=-1)
        mean = total / query.mask.sum(dim=-1).clamp_min(1)
        return MatchOutput(self.scale * mean, {"similarity": similarity})


def main() -> None:
    """Train it like any other model."""
    data = mw.toy()
    matcher = mw.Matcher.build("nearest-word", data["train"].texts, power=2.0)
    mw.train(matcher, data, loss="hinge", negatives="own", num_negatives=1, max_epochs=5, seed=7)
    matcher.save("runs/nearest-word")
    for hit in mw.load("runs/nearest-word").rerank(
        "who painted guernica",
        ["guernica is a town in spain", "picasso painted guernica", "the war began in spain"],
    ):
        print(hit.rank, f"{hit.score:.3f}", hit.document.text)


if __name__ == "__main__":
    main()

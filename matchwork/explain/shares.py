"""Shares of a score that relevance and semantics add, for models with these two parts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Shares:
    """A score, and the scores of each part alone, with all other features at their training mean.

    `neither` has both parts at their mean, hence is equal for every pair.
    """

    score: float
    relevance: float
    semantic: float
    neither: float

    @property
    def relevance_effect(self) -> float:
        """Contribution of relevance, averaged over adding it first and adding it second."""
        return ((self.relevance - self.neither) + (self.score - self.semantic)) / 2

    @property
    def semantic_effect(self) -> float:
        """Contribution of semantics; both contributions and `neither` sum to the score."""
        return ((self.semantic - self.neither) + (self.score - self.relevance)) / 2

    def rows(self) -> list[tuple[str, float]]:
        """Return the four scores, each with what was held."""
        return [
            ("as they are", self.score),
            ("relevance alone, semantics at their mean", self.relevance),
            ("semantics alone, relevance at its mean", self.semantic),
            ("both at their mean", self.neither),
        ]

    def in_words(self) -> str:
        """Return what moved the score, in a sentence."""
        return (
            f"From {self.neither:.4f}, where every pair starts, relevance moves the score by "
            f"{self.relevance_effect:+.4f} and semantics by {self.semantic_effect:+.4f}, to "
            f"{self.score:.4f}."
        )

    def to_dict(self) -> dict[str, float]:
        """Return the four scores and the two effects."""
        effects = {"relevance": self.relevance_effect, "semantic": self.semantic_effect}
        return {**asdict(self), **{f"{part}_effect": value for part, value in effects.items()}}

    @classmethod
    def from_dict(cls, table: Mapping[str, float]) -> "Shares":
        """Read what `to_dict` returned."""
        return cls(**{name: table[name] for name in cls.__dataclass_fields__})

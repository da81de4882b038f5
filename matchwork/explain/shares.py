"""How much of a score each part of a model made, where it has two: relevance and semantics."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Shares:
    """The score, and what it is with the features of a part held at their training mean.

    `relevance` is the score that relevance features give while the semantic ones are held,
    `semantic` the reverse; `neither` is the score with both held, the same for every pair.
    """

    score: float
    relevance: float
    semantic: float
    neither: float

    @property
    def relevance_effect(self) -> float:
        """What relevance adds to the score, on average over "first" and "on top of semantics"."""
        return ((self.relevance - self.neither) + (self.score - self.semantic)) / 2

    @property
    def semantic_effect(self) -> float:
        """The same of semantics; both effects and `neither` add up to the score."""
        return ((self.semantic - self.neither) + (self.score - self.relevance)) / 2

    def rows(self) -> list[tuple[str, float]]:
        """The four scores, each with what was held."""
        return [
            ("as they are", self.score),
            ("relevance alone, semantics at their mean", self.relevance),
            ("semantics alone, relevance at its mean", self.semantic),
            ("both at their mean", self.neither),
        ]

    def in_words(self) -> str:
        """Who moved the score, in a sentence."""
        return (
            f"From {self.neither:.4f}, where every pair starts, relevance moves the score by "
            f"{self.relevance_effect:+.4f} and semantics by {self.semantic_effect:+.4f}, to "
            f"{self.score:.4f}."
        )

    def to_json(self) -> dict[str, float]:
        """The four scores and the two effects."""
        effects = {"relevance": self.relevance_effect, "semantic": self.semantic_effect}
        return {**asdict(self), **{f"{part}_effect": value for part, value in effects.items()}}

    @classmethod
    def from_json(cls, table: Mapping[str, float]) -> "Shares":
        """The inverse of `to_json`."""
        return cls(**{name: table[name] for name in cls.__dataclass_fields__})

"""The nouns everything shares: documents, rankings, judgements and scorers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Qrels: TypeAlias = dict[str, dict[str, int]]
"""Query id -> document id -> grade (0 = judged not relevant)."""

Run: TypeAlias = dict[str, dict[str, float]]
"""Query id -> document id -> score, higher is better."""

Scores: TypeAlias = npt.NDArray[np.float64]
TextPair: TypeAlias = tuple[str, str]
Side: TypeAlias = Literal["query", "document"]
Task: TypeAlias = Literal["ranking", "classification", "regression"]


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the name it is judged under."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """One line of a ranking; `rank` starts at 1."""

    rank: int
    score: float
    document: Document


@runtime_checkable
class Scorer(Protocol):
    """Anything that reads two texts and says how well they match (higher is better)."""

    @property
    def name(self) -> str:
        """What tables and run files call it."""
        ...

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """One score per (query, document) pair, in the order given."""
        ...

    def rank(
        self, query: str, documents: Sequence[str | Document], top_k: int | None = None
    ) -> list[Ranked]:
        """The documents from best to worst."""
        ...

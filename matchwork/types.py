"""Types that every package shares: documents, rankings, judgements and scorers."""

from collections.abc import Callable, Iterable, Sequence
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
Task: TypeAlias = Literal["ranking", "classification", "regression"]
Side: TypeAlias = Literal["query", "document"]
SIDES: tuple[Side, Side] = ("query", "document")
Progress: TypeAlias = Callable[[int, int], None]
"""Progress callback: called with how many items are done, and of how many."""
Advance: TypeAlias = Callable[[int], None]
"""Progress callback where the total is unknown: called with how many more items are done."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its id, as used in relevance judgements."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """One line of a ranking.

    Attributes:
        rank: 1 for the best document.
        score: The scorer's score; higher is better.
        document: The document, named by its position if it was given as plain text.
        index: Position of the document in the list that was ranked, from 0.
        probability: Calibrated probability of a match; None for a scorer without calibration.
    """

    rank: int
    score: float
    document: Document
    index: int
    probability: float | None = None


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores how well a query and a document match; higher is better."""

    @property
    def name(self) -> str:
        """The name of the scorer in tables and run files."""
        ...

    def score(self, pairs: Iterable[TextPair]) -> Scores:
        """Return one score per (query, document) pair, in the order given."""
        ...

    def rerank(
        self,
        query: str,
        documents: Sequence[str | Document],
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Ranked]:
        """Return the documents from best to worst; see `matchwork.rank.rerank`."""
        ...

"""Texts as numbers: equal for texts that differ only in case, punctuation and spacing."""

from collections.abc import Mapping
from dataclasses import dataclass

from matchwork.data.dataset import Split
from matchwork.data.normalise import normalise


class TextNumbers:
    """Numbers of normalised texts, shared by all splits of a data set."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        # The splits of a collection share one mapping: normalise it once.
        self._done: dict[int, dict[str, int]] = {}

    def of_split(self, split: Split) -> "NumberedSplit":
        """Number the texts of a split."""
        return NumberedSplit(split, self._of(split.queries), self._of(split.documents))

    def _of(self, texts: Mapping[str, str]) -> dict[str, int]:
        """Return the number of each text by its id."""
        if id(texts) not in self._done:
            self._done[id(texts)] = {
                key: self._numbers.setdefault(normalise(text), len(self._numbers))
                for key, text in texts.items()
            }
        return self._done[id(texts)]


@dataclass(frozen=True)
class NumberedSplit:
    """A split with the numbers of its texts."""

    split: Split
    queries: Mapping[str, int]
    documents: Mapping[str, int]

    def present(self, query_id: str) -> list[str]:
        """Return the candidates of a query, or in a collection its judged documents, with texts."""
        pools = self.split.qrels if self.split.candidates is None else self.split.candidates
        return [document for document in pools.get(query_id, ()) if document in self.documents]

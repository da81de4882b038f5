"""What a data set is once its files are read: queries, documents, candidates, judgements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from matchwork.errors import DataError
from matchwork.registry import did_you_mean
from matchwork.types import Qrels, Run, Task

Protocol: TypeAlias = Literal["raw", "has-positive", "clean", "trec-eval"]


class LabelledPair(NamedTuple):
    """One row of a pair file."""

    query_id: str
    document_id: str
    query: str
    document: str
    label: int


@dataclass(frozen=True)
class Split:
    """One part of a data set.

    `candidates` maps each query to the documents ranked for it; None means that every query
    ranks the whole of `documents` (a collection, searched by a first stage). `runs` are rankings
    that the data set itself comes with, by name: baselines, and partners for fusion. Judgements
    may speak of documents that are not here: measures such as AP divide by all relevant ones. A
    label divided by `label_scale` is the score that a regression aims at. `source` is the pair
    file it was read from, `label_lines` say where in it each label first stands.
    """

    name: str
    queries: Mapping[str, str]
    documents: Mapping[str, str]
    qrels: Qrels
    candidates: Mapping[str, tuple[str, ...]] | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    label_scale: float = 1.0
    source: Path | None = None
    label_lines: Mapping[int, int] = field(default_factory=dict)

    def label(self, query_id: str, document_id: str) -> int:
        """The grade of a document for a query, 0 when it was not judged."""
        return self.qrels.get(query_id, {}).get(document_id, 0)

    @cached_property
    def top_label(self) -> int:
        """The highest label of a pair that is here."""
        return max((pair.label for pair in self.pairs()), default=0)

    def pairs(self) -> Iterator[LabelledPair]:
        """Every candidate pair with its label; for a collection, every judged pair."""
        for query_id, pool in self._pools.items():
            query = self.queries[query_id]
            for document_id in pool:
                yield LabelledPair(
                    query_id,
                    document_id,
                    query,
                    self.documents[document_id],
                    self.label(query_id, document_id),
                )

    @cached_property
    def labelled_documents(self) -> dict[str, str]:
        """The documents that occur in `pairs`; of a collection, only the judged ones."""
        names = dict.fromkeys(name for pool in self._pools.values() for name in pool)
        return {name: self.documents[name] for name in names}

    @cached_property
    def _pools(self) -> Mapping[str, tuple[str, ...]]:
        """The labelled documents of every query; a judgement without a text is left out."""
        if self.candidates is not None:
            return self.candidates
        return {
            query_id: tuple(filter(self.documents.__contains__, judged))
            for query_id, judged in self.qrels.items()
            if query_id in self.queries
        }

    @cached_property
    def texts(self) -> list[str]:
        """All distinct texts to learn from: queries, then labelled documents, in file order."""
        return list(dict.fromkeys([*self.queries.values(), *self.labelled_documents.values()]))


@dataclass(frozen=True)
class Dataset:
    """Named splits and how they are measured."""

    name: str
    splits: Mapping[str, Split]
    task: Task = "ranking"
    protocol: Protocol = "raw"
    measures: tuple[str, ...] = ("AP", "RR", "P@1")
    notes: str = ""
    licence: str = ""
    options: Mapping[str, str | bool] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, split: str) -> Split:
        if split not in self.splits:
            hint = did_you_mean(split, self.splits)
            raise DataError(f"data set {self.name!r} has no split {split!r}; {hint}")
        return self.splits[split]

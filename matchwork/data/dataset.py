"""Data sets in memory: splits of queries, documents, candidates and judgements."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from matchwork.errors import DataError
from matchwork.registry import did_you_mean
from matchwork.types import Qrels, Run, Task


@dataclass(frozen=True)
class Columns:
    """Column names of a pair file; None looks for the usual names, such as "question"."""

    query: str | None = None
    document: str | None = None
    label: str | None = None
    query_id: str | None = None
    document_id: str | None = None


class LabelledPair(NamedTuple):
    """A query, a document and the label of the pair."""

    query_id: str
    document_id: str
    query: str
    document: str
    label: int


@dataclass(frozen=True)
class Split:
    """One part of a data set.

    Args:
        name: "train", "dev", "test" or another name of the data set's.
        queries: Text of each query by id.
        documents: Text of each document by id.
        qrels: Judgements. They may name documents without a text: measures such as AP divide by
            the number of all relevant documents.
        candidates: Documents to rank for each query; None for a collection, where every query
            searches all `documents`.
        runs: Rankings that come with the data set, by name: baselines, and partners for fusion.
        label_scale: A regression predicts label / label_scale.
        source: The pair file that the split was read from.
        label_lines: Line of `source` in which each label first occurs.
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
        """Return the grade of a document for a query, 0 without a judgement."""
        return self.qrels.get(query_id, {}).get(document_id, 0)

    @cached_property
    def top_label(self) -> int:
        """Highest label of all pairs, 0 without pairs."""
        return max((pair.label for pair in self.pairs()), default=0)

    def pairs(self) -> Iterator[LabelledPair]:
        """Yield every candidate pair with its label; for a collection, every judged pair."""
        for query_id, pool in self._pools.items():
            query = self.queries[query_id]
            for document_id in pool:
                document, label = self.documents[document_id], self.label(query_id, document_id)
                yield LabelledPair(query_id, document_id, query, document, label)

    @cached_property
    def labelled_documents(self) -> dict[str, str]:
        """Documents of all `pairs`; of a collection, only judged ones."""
        names = dict.fromkeys(name for pool in self._pools.values() for name in pool)
        return {name: self.documents[name] for name in names}

    @cached_property
    def _pools(self) -> Mapping[str, tuple[str, ...]]:
        """Documents of each query's pairs; judgements of documents without a text are left out."""
        if self.candidates is not None:
            return self.candidates
        return {
            query_id: tuple(filter(self.documents.__contains__, judged))
            for query_id, judged in self.qrels.items()
            if query_id in self.queries
        }

    @cached_property
    def texts(self) -> list[str]:
        """Distinct texts to train on: queries, then documents of `pairs`, in file order."""
        return list(dict.fromkeys([*self.queries.values(), *self.labelled_documents.values()]))


@dataclass(frozen=True)
class Dataset:
    """Named splits, and how they are measured.

    Args:
        name: Name in the catalogue, or of the file or folder.
        splits: Splits by name; `dataset["test"]` is one of them.
        task: What the labels are for.
        protocol: Which queries count and how ties fall (`matchwork.evaluate.PROTOCOLS`).
        measures: Measures that are reported by default.
        notes: What a user should know before reporting numbers.
        licence: Terms of use.
        options: Values of the catalogue entry's options.
        versions: Versions of what a generated data set was made from.
    """

    name: str
    splits: Mapping[str, Split]
    task: Task = "ranking"
    protocol: str = "raw"
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


def choose_splits(wanted: Sequence[str] | None, known: Iterable[str], source: Path) -> list[str]:
    """Return the wanted split names, all of which must be known; all known ones when None."""
    names = list(known)
    for name in wanted or ():
        if name not in names:
            raise DataError(f"no split {name!r}; {did_you_mean(name, names)}", path=source)
    return names if wanted is None else list(dict.fromkeys(wanted))

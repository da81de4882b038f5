"""Numbers of one split, and what two share; texts equal but for case and punctuation count once."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from matchwork.audit.ranking import compare_orders, first_stage
from matchwork.audit.report import Lengths, Overlap, SplitReport
from matchwork.data.dataset import Split
from matchwork.data.partition import normalise

NUM_EXAMPLES = 3


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


def audit(numbered: NumberedSplit, protocol: str) -> SplitReport:
    """Return the numbers of one split; rankings are measured under `protocol`."""
    split = numbered.split
    labels: dict[tuple[int, int], set[int]] = {}
    names: dict[tuple[int, int], str] = {}
    grades: Counter[int] = Counter()
    positives_per_query: list[tuple[int, int]] = []
    for query in split.queries:
        present = numbered.present(query)
        own = [split.label(query, document) for document in present]
        grades.update(own)
        positives_per_query.append((sum(grade > 0 for grade in own), len(own)))
        for document, grade in zip(present, own, strict=True):
            key = numbered.queries[query], numbered.documents[document]
            labels.setdefault(key, set()).add(grade)
            names.setdefault(key, f"{query} / {document}")
    pairs = sum(grades.values())
    conflicts = [names[key] for key, seen in labels.items() if len(seen) > 1]
    missing = _missing(numbered)
    positives = sum(count for grade, count in grades.items() if grade > 0)
    return SplitReport(
        name=split.name,
        queries=len(split.queries),
        documents=len(split.documents),
        pairs=pairs,
        positives=positives,
        positive_share=positives / pairs if pairs else 0.0,
        grades=dict(sorted(grades.items())),
        duplicate_pairs=pairs - len(labels),
        conflicting_pairs=len(conflicts),
        conflict_examples=tuple(conflicts[:NUM_EXAMPLES]),
        queries_without_positives=sum(not positive for positive, _ in positives_per_query),
        queries_only_positives=(
            0
            if split.candidates is None
            else sum(0 < positive == total for positive, total in positives_per_query)
        ),
        missing_documents=len(missing),
        missing_examples=tuple(missing[:NUM_EXAMPLES]),
        empty_queries=sum(not text.strip() for text in split.queries.values()),
        empty_documents=sum(not text.strip() for text in split.documents.values()),
        query_words=_lengths(split.queries.values()),
        document_words=_lengths(split.documents.values()),
        orders=compare_orders(split, protocol),
        first_stage=first_stage(split),
    )


def _missing(numbered: NumberedSplit) -> list[str]:
    """Ids of judged documents and candidates that have no text."""
    split = numbered.split
    named = (document for judged in split.qrels.values() for document in judged)
    listed = (document for pool in (split.candidates or {}).values() for document in pool)
    return [each for each in dict.fromkeys([*named, *listed]) if each not in split.documents]


def _lengths(texts: Iterable[str]) -> Lengths:
    lengths = [len(text.split()) for text in texts] or [0]
    p50, p90, p99, longest = np.percentile(lengths, [50, 90, 99, 100], method="higher")
    return Lengths(int(p50), int(p90), int(p99), int(longest))


def overlap(first: NumberedSplit, second: NumberedSplit) -> Overlap:
    """Count the queries, pairs and documents that two splits share."""
    queries = set(first.queries.values()) & set(second.queries.values())
    examples = {
        number: first.split.queries[query]
        for query, number in first.queries.items()
        if number in queries
    }
    return Overlap(
        first=first.split.name,
        second=second.split.name,
        queries=len(queries),
        query_examples=tuple(list(examples.values())[:NUM_EXAMPLES]),
        pairs=len(_pairs(first, queries) & _pairs(second, queries)),
        documents=len(set(first.documents.values()) & set(second.documents.values())),
        relevant_documents=len(_relevant(first) & _relevant(second)),
        same_collection=first.documents == second.documents,
    )


def _pairs(numbered: NumberedSplit, queries: set[int]) -> set[tuple[int, int]]:
    """Pairs of these queries, as numbers."""
    return {
        (number, numbered.documents[document])
        for query, number in numbered.queries.items()
        if number in queries
        for document in numbered.present(query)
    }


def _relevant(numbered: NumberedSplit) -> set[tuple[str, int]]:
    """Relevant documents by id and text: ids may be generated anew in every split."""
    return {
        (document, numbered.documents[document])
        for judged in numbered.split.qrels.values()
        for document, grade in judged.items()
        if grade > 0 and document in numbered.documents
    }

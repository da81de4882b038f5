"""Cut data into parts, identically on every machine.

Queries that differ in case or punctuation only fall into the same part, so that nothing leaks.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from matchwork.data.dataset import LabelledPair, Split
from matchwork.errors import DataError
from matchwork.types import Task

TENTHS: Mapping[str, range] = {"train": range(2, 10), "dev": range(0, 1), "test": range(1, 2)}
"""Tenths of the queries in each part of a single pair file."""


_NOT_WORD = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Return the lower-case words of a text, or the text itself if it has none (say "?!")."""
    return _NOT_WORD.sub(" ", text.lower()).strip() or text.strip()


def tenth(query: str) -> int:
    """Return a number from 0 to 9, a hash of the normalised query."""
    return sha256(normalise(query).encode()).digest()[0] % 10


def cut_by_query(split: Split) -> dict[str, Split]:
    """Cut a single pair file into train, dev and test (8 : 1 : 1)."""
    parts = {}
    for name, tenths in TENTHS.items():
        chosen = (query for query, text in split.queries.items() if tenth(text) in tenths)
        part = part_of(split, name, chosen)
        if not any(grade > 0 for grades in part.qrels.values() for grade in grades.values()):
            raise DataError(
                f"{len(split.queries)} queries are too few to cut train, dev and test from "
                f"{split.name!r}: {name} would have no positive pair; give a folder with "
                "train, dev and test files"
            )
        parts[name] = part
    return parts


def hold_out(split: Split, share: float) -> set[str]:
    """Return the ids of a share of the queries: those whose normalised texts hash lowest."""

    def sort_key(query_id: str) -> tuple[str, str]:
        words = normalise(split.queries[query_id])
        return sha256(words.encode()).hexdigest(), query_id

    return set(sorted(split.queries, key=sort_key)[: round(share * len(split.queries))])


def part_of(split: Split, name: str, query_ids: Iterable[str]) -> Split:
    """Return the split `name` of these queries only: their candidates, judgements and runs."""
    queries = {key: split.queries[key] for key in query_ids}
    candidates, documents = None, split.documents
    if split.candidates is not None:
        candidates = {key: split.candidates[key] for key in queries if key in split.candidates}
        used = dict.fromkeys(name for pool in candidates.values() for name in pool)
        documents = {key: split.documents[key] for key in used}
    qrels = {key: split.qrels[key] for key in queries if key in split.qrels}
    runs = {
        name: {key: run[key] for key in queries if key in run} for name, run in split.runs.items()
    }
    return replace(
        split,
        name=name,
        queries=queries,
        documents=documents,
        qrels=qrels,
        candidates=candidates,
        runs=runs,
    )


def share_of(split: Split, share: float, task: Task) -> Split:
    """Return a share of a split, whole queries of a ranking; larger shares contain smaller ones."""
    if task == "ranking":
        chosen = hold_out(split, share)
        return part_of(split, split.name, filter(chosen.__contains__, split.queries))

    def sort_key(pair: LabelledPair) -> tuple[str, str, str]:
        words = f"{normalise(pair.query)}\t{normalise(pair.document)}"
        return sha256(words.encode()).hexdigest(), pair.query_id, pair.document_id

    pairs = sorted(split.pairs(), key=sort_key)
    kept = {(pair.query_id, pair.document_id) for pair in pairs[: round(share * len(pairs))]}
    pools: dict[str, tuple[str, ...]] = {}
    for pair in split.pairs():
        if (pair.query_id, pair.document_id) in kept:
            pools[pair.query_id] = (*pools.get(pair.query_id, ()), pair.document_id)
    qrels = {
        query: {document: grade for document, grade in grades.items() if (query, document) in kept}
        for query, grades in split.qrels.items()
    }
    return part_of(replace(split, candidates=pools, qrels=qrels), split.name, pools)

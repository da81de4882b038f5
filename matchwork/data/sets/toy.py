"""Toy questions, small enough to read, for first steps, examples and tests."""

from collections.abc import Sequence
from pathlib import Path

from matchwork.data.catalogue import CATALOGUE
from matchwork.data.dataset import Dataset, Split

_FILE = Path(__file__).with_name("toy.tsv")
"""A split, a question, its answer and three sentences that do not answer it in every line."""


def toy() -> Dataset:
    """Return 24 handwritten questions with four candidates each, one of them the answer."""
    _, *lines = _FILE.read_text(encoding="utf-8").splitlines()
    questions: dict[str, list[list[str]]] = {}
    for split, *texts in (line.split("\t") for line in lines):
        questions.setdefault(split, []).append(texts)
    splits = {name: _split(name, texts) for name, texts in questions.items()}
    return CATALOGUE["toy"].dataset("toy", splits)


def _split(name: str, questions: Sequence[Sequence[str]]) -> Split:
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    candidates: dict[str, tuple[str, ...]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number, (question, *sentences) in enumerate(questions, start=1):
        query_id = f"{name}-{number}"
        queries[query_id] = question
        ids = [f"{query_id}-{letter}" for letter in "abcd"]
        documents.update(zip(ids, sentences, strict=True))
        qrels[query_id] = {id: int(id == ids[0]) for id in ids}
        # The position of the answer rotates: file order must not help.
        shift = number % len(ids)
        candidates[query_id] = tuple(ids[shift:] + ids[:shift])
    return Split(name, queries, documents, qrels, candidates)

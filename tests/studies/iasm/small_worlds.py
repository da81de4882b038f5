"""Splits, rankings and taggers small enough to work out by hand."""

import re
from collections.abc import Mapping, Sequence

import torch

from matchwork.data import Split
from matchwork.encode import WordEmbedding
from matchwork.evaluate import Evaluation, evaluate
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import Vocabulary, WordTokenizer

MEASURES = ("P@1", "RR", "AP")


class EveryWord:
    """Takes every run of letters for a noun."""

    name = "every word"

    def __call__(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer(r"\w+", text)]


def split_of(pairs: Mapping[str, tuple[str, Sequence[str]]]) -> Split:
    """Query id -> its text and its relevant documents; every query also has a wrong candidate."""
    queries = {name: query for name, (query, _) in pairs.items()}
    documents, qrels = {}, {}
    for name, (_, relevant) in pairs.items():
        ids = [f"{name}-{number}" for number in range(len(relevant))]
        documents |= dict(zip(ids, relevant, strict=True)) | {f"{name}-wrong": "wrong"}
        qrels[name] = {**dict.fromkeys(ids, 1), f"{name}-wrong": 0}
    candidates = {name: tuple(judged) for name, judged in qrels.items()}
    return Split("test", queries, documents, qrels, candidates)


def ranked(split: Split, right: Sequence[str]) -> Evaluation:
    """A system that answers the queries in `right`, and puts the wrong document first elsewhere."""
    run = {
        query: {
            document: float((grade > 0) == (query in right)) for document, grade in judged.items()
        }
        for query, judged in split.qrels.items()
    }
    return evaluate(run, split.qrels, MEASURES)


def tokenizer_of(train: Sequence[str], vectors: Sequence[str] = ()) -> WordTokenizer:
    return WordTokenizer(Vocabulary.merge(train, vectors))


def tiny_matcher(name: str, texts: Sequence[str], **settings: object) -> Matcher:
    torch.manual_seed(7)
    tokenizer = WordTokenizer.fit(texts)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=12)
    entry = MODELS[name]
    return Matcher(tokenizer, entry.model(entry.config(settings), encoder))

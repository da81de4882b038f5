"""P@1 by the number of words a query shares with its answer.

Zhao et al., ICDM 2020, figure 4: eleven groups by the number of distinct shared words that are
no stop words, 0 to 9 and 10 or more. With several relevant documents, the one that shares most
words counts: one easy answer makes an easy query.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from matchwork.data import Split
from matchwork.packages import without_package
from matchwork.rank.bm25 import BM25Config
from matchwork.studies.iasm.groups import Evaluations, Grouping, measure_groups, relevant_texts

MEASURE = "P@1"
MOST = 10
LABELS = (*map(str, range(MOST)), f"{MOST}+")


@dataclass(frozen=True)
class Overlap(Grouping):
    """Eleven groups, from no shared word to ten and more."""

    stemmed: bool
    stop_words: str


def overlap(
    split: Split, evaluations: Evaluations, *, stem: bool = False, seed: int = 0
) -> Overlap:
    """Measure each system's P@1 by the number of shared words.

    Args:
        split: The split.
        evaluations: System -> its evaluation, with P@1.
        stem: Whether to compare words by their stems (Snowball, English).
        seed: Seed of intervals and tests.
    """
    words = _splitter(stem)
    relevant = relevant_texts(split, evaluations)
    members: dict[str, list[str]] = {label: [] for label in LABELS}
    for query, documents in relevant.items():
        own = set(words(split.queries[query]))
        shared = max(len(own.intersection(words(document))) for document in documents)
        members[LABELS[min(shared, MOST)]].append(query)
    return Overlap(
        measure_groups(members, evaluations, [MEASURE], seed),
        next(iter(evaluations.values())).num_queries - len(relevant),
        stem,
        f"STOPWORDS_EN_PLUS of bm25s {version('bm25s')}",
    )


def _splitter(stem: bool) -> Callable[[str], list[str]]:
    """Return a function that splits a text into words as BM25 does, without stop words."""
    with without_package("jax"):  # see rank/bm25.py
        from bm25s.stopwords import STOPWORDS_EN_PLUS

    return BM25Config(stemmer="english" if stem else None, stopwords=STOPWORDS_EN_PLUS).splitter()

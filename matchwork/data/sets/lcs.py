"""The simulation of the Match-SRNN paper: predict the length of a longest common subsequence.

Wan et al., Match-SRNN, IJCAI 2016. Pairs of random strings whose label is the
length of their longest common subsequence (LCS). The paper states neither the lengths of the
strings nor a dev split: both lengths are uniform in 1..10, and dev is a third draw, so that
nothing is chosen on test.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from matchwork.data.catalogue import CATALOGUE
from matchwork.data.dataset import Dataset, Split

LETTERS = "ABCDEFGHIJ"
MAX_LENGTH = 10
LABEL_SCALE = 10.0
"""A constant: a recursion over prefixes cannot know the lengths of the whole strings."""
SIZES = {"train": 10_000, "dev": 1_000, "test": 1_000}
SEED = 2016


def lcs_table(query: Sequence[str], document: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the LCS length of all prefixes, shape (query + 1, document + 1)."""
    table = [[0] * (len(document) + 1)]
    for letter in query:
        above, row = table[-1], [0]
        for column, other in enumerate(document):
            row.append(max(above[column] + (letter == other), row[column], above[column + 1]))
        table.append(row)
    return np.array(table, dtype=np.int64)


def lcs() -> Dataset:
    """Generate 10,000 training, 1,000 dev and 1,000 test pairs from a fixed seed."""
    streams = np.random.SeedSequence(SEED).spawn(len(SIZES))
    splits = {
        name: _split(name, size, np.random.default_rng(stream))
        for (name, size), stream in zip(SIZES.items(), streams, strict=True)
    }
    return CATALOGUE["lcs"].dataset("lcs", splits)


def _split(name: str, size: int, rng: np.random.Generator) -> Split:
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number in range(1, size + 1):
        query, document = _letters(rng), _letters(rng)
        query_id, document_id = f"{name}-{number}", f"{name}-{number}-other"
        queries[query_id], documents[document_id] = " ".join(query), " ".join(document)
        qrels[query_id] = {document_id: int(lcs_table(query, document)[-1, -1])}
    candidates = {query_id: tuple(judged) for query_id, judged in qrels.items()}
    return Split(name, queries, documents, qrels, candidates, label_scale=LABEL_SCALE)


def _letters(rng: np.random.Generator) -> list[str]:
    length = int(rng.integers(1, MAX_LENGTH + 1))
    return [LETTERS[index] for index in rng.integers(len(LETTERS), size=length)]

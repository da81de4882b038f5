"""Negative samplers: what each positive pair is trained against."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from matchwork.errors import DataError
from matchwork.rank.bm25 import BM25
from matchwork.registry import Registry
from matchwork.text.batch import Ids
from matchwork.train.samples import Lists, TrainingSet

_REDRAWS = 20  # tries to draw a text that is not relevant before a candidate is masked


class Groups(NamedTuple):
    """Query rows, document rows, labels and mask, each of shape (groups, candidates)."""

    query_rows: Ids
    document_rows: Ids
    labels: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]


class Sampler(ABC):
    """Draws the groups of one epoch; `SAMPLERS.register` adds a subclass.

    Keyword-only parameters of its `__init__` are fields of `TrainConfig`.

    Attributes:
        draws_negatives: False if labelled pairs are used as they are.
        in_batch: True if a group is one positive pair, and the batch's other documents are its
            negatives.
    """

    draws_negatives: ClassVar[bool] = True
    in_batch: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, samples: TrainingSet) -> None:
        """Prepare what all epochs share."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Groups:
        """Return groups in the order of the training pairs; the loader shuffles them."""


SAMPLERS: Registry[type[Sampler]] = Registry("negative sampler")


@SAMPLERS.register("labelled")
class Labelled(Sampler):
    """Makes a group of every labelled pair; draws nothing."""

    draws_negatives = False

    def __init__(self, samples: TrainingSet) -> None:
        chosen = samples.positives if self.in_batch else np.arange(len(samples.labels))
        queries, documents = samples.query_rows[chosen, None], samples.document_rows[chosen, None]
        mask = np.ones(queries.shape, dtype=np.bool_)
        self.groups = Groups(queries, documents, samples.labels[chosen, None], mask)

    def draw(self, rng: np.random.Generator) -> Groups:
        """Return all pairs."""
        return self.groups


@SAMPLERS.register("in-batch")
class InBatch(Labelled):
    """Makes a group of every positive pair; the batch's other documents are its negatives."""

    draws_negatives = in_batch = True


@SAMPLERS.register("random")
class RandomDocuments(Sampler):
    """Any document that is not relevant; groups have the positive first, then the drawn ones."""

    def __init__(self, samples: TrainingSet, *, num_negatives: int) -> None:
        self.samples = samples
        self.num = num_negatives
        self.query_rows = samples.query_rows[samples.positives]
        self.document_rows = samples.document_rows[samples.positives]

    def draw(self, rng: np.random.Generator) -> Groups:
        """Draw again whatever is relevant; after some tries, mask it."""
        shape = len(self.query_rows), 1 + self.num
        queries = np.repeat(self.query_rows[:, None], shape[1], axis=1)
        documents = np.repeat(self.document_rows[:, None], shape[1], axis=1)
        wrong = np.ones(shape, dtype=np.bool_)
        wrong[:, 0] = False
        for _ in range(_REDRAWS):
            new_queries, new_documents = self.negatives(rng)
            queries[:, 1:] = np.where(wrong[:, 1:], new_queries, queries[:, 1:])
            documents[:, 1:] = np.where(wrong[:, 1:], new_documents, documents[:, 1:])
            wrong[:, 1:] = self.samples.is_positive(queries[:, 1:], documents[:, 1:])
            if not wrong.any():
                break
        labels = np.zeros(shape, dtype=np.float32)
        labels[:, 0] = 1.0
        return Groups(queries, documents, labels, ~wrong)

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Return query and document rows of candidates, broadcastable to (groups, negatives)."""
        return self.query_rows[:, None], self.random_documents(rng)

    def random_documents(self, rng: np.random.Generator) -> Ids:
        """Return document rows, shape (groups, negatives)."""
        return rng.integers(len(self.samples.documents), size=(len(self.query_rows), self.num))


@SAMPLERS.register("own")
class OwnCandidates(RandomDocuments):
    """The query's own candidates with label 0; a query without any borrows another's."""

    def __init__(self, samples: TrainingSet, *, num_negatives: int) -> None:
        super().__init__(samples, num_negatives=num_negatives)
        self.lists = samples.own_negatives
        if not len(self.lists.flat):
            raise DataError(
                'negatives = "own" needs candidates with label 0, and the training split has '
                'none; use "random" or "hard"'
            )

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Draw from the query's list, or from all lists if it is empty."""
        own = self.lists.draw(self.query_rows, self.num, rng)
        borrowed = self.lists.flat[rng.integers(len(self.lists.flat), size=own.shape)]
        return self.query_rows[:, None], np.where(own >= 0, own, borrowed)


@SAMPLERS.register("hard")
class HardDocuments(RandomDocuments):
    """Documents among BM25's best `hard_depth` for the query that are not relevant."""

    def __init__(self, samples: TrainingSet, *, num_negatives: int, hard_depth: int) -> None:
        super().__init__(samples, num_negatives=num_negatives)
        if hard_depth not in samples.mined:
            samples.mined[hard_depth] = _bm25_lists(samples, hard_depth)
        self.lists = samples.mined[hard_depth]

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Draw from BM25's list, or from all documents if it is empty."""
        hard = self.lists.draw(self.query_rows, self.num, rng)
        return self.query_rows[:, None], np.where(hard >= 0, hard, self.random_documents(rng))


@SAMPLERS.register("replace")
class ReplaceEitherSide(RandomDocuments):
    """A random text in place of the document or of the query, with probability 1/2 each (IASM)."""

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Draw which side is replaced, and by which text."""
        documents = self.random_documents(rng)
        queries = rng.integers(len(self.samples.queries), size=documents.shape)
        replace_document = rng.random(documents.shape) < 0.5
        return (
            np.where(replace_document, self.query_rows[:, None], queries),
            np.where(replace_document, documents, self.document_rows[:, None]),
        )


def _bm25_lists(samples: TrainingSet, depth: int) -> Lists:
    """Return the best `depth` documents of each query that are not relevant."""
    names = {str(row): text for row, text in enumerate(samples.document_texts)}
    retrieved = BM25.fit(names).search(samples.query_texts, top_k=min(depth, len(names)))
    rows = np.array(
        [(query, int(document)) for query, hits in enumerate(retrieved) for document in hits],
        dtype=np.int64,
    ).reshape(-1, 2)
    rows = rows[~samples.is_positive(rows[:, 0], rows[:, 1])]
    return Lists.group(rows[:, 0], rows[:, 1], len(samples.queries))

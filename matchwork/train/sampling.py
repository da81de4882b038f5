"""What each positive pair is trained against: one class per way of finding negatives."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError
from matchwork.rank.bm25 import BM25
from matchwork.registry import Registry
from matchwork.text.batch import Ids
from matchwork.train.config import TrainConfig
from matchwork.train.samples import Lists, TrainingSet

_REDRAWS = 20  # tries to find a text that is not relevant before a place stays empty


class Groups(NamedTuple):
    """Rows of both sides, labels and mask, all of shape (groups, candidates)."""

    query_rows: Ids
    document_rows: Ids
    labels: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]


def require_apart(config: TrainConfig, apart: bool, where: str = "") -> None:
    """Every query can only be matched with every document where each is encoded by itself."""
    if config.negatives == "in-batch" and not apart:
        raise ConfigError(
            f'{where}negatives = "in-batch" needs texts that are encoded apart, but this model '
            'reads both at once; use "labelled" or "own", another model, or '
            "vectors.cross_encode = false"
        )


class Sampler(Protocol):
    """Draws the groups of one epoch."""

    def draw(self, rng: np.random.Generator) -> Groups:
        """Groups in the order of the training file; the loader shuffles."""
        ...


SAMPLERS: Registry[Callable[[TrainingSet, TrainConfig], Sampler]] = Registry("kind of negatives")


@SAMPLERS.register("labelled")
class Labelled:
    """Every labelled pair is a group of its own."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        self.groups = Groups(
            samples.query_rows[:, None],
            samples.document_rows[:, None],
            samples.labels[:, None],
            np.ones((len(samples.labels), 1), dtype=np.bool_),
        )

    def draw(self, rng: np.random.Generator) -> Groups:
        """Nothing is drawn."""
        return self.groups


@SAMPLERS.register("in-batch")
class InBatch:
    """Positive pairs only: the other documents of a batch are the negatives."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        chosen = samples.positives
        self.groups = Groups(
            samples.query_rows[chosen, None],
            samples.document_rows[chosen, None],
            np.ones((len(chosen), 1), dtype=np.float32),
            np.ones((len(chosen), 1), dtype=np.bool_),
        )

    def draw(self, rng: np.random.Generator) -> Groups:
        """Nothing is drawn."""
        return self.groups


class _Drawn:
    """Positives in column 0, `num_negatives` drawn ones beside them."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        self.samples = samples
        self.num = config.num_negatives
        self.query_rows = samples.query_rows[samples.positives]
        self.document_rows = samples.document_rows[samples.positives]

    def draw(self, rng: np.random.Generator) -> Groups:
        """One positive and its negatives per group; a place nothing fits is masked."""
        queries = np.repeat(self.query_rows[:, None], self.num, axis=1)
        documents = np.repeat(self.document_rows[:, None], self.num, axis=1)
        wrong = np.ones(queries.shape, dtype=np.bool_)
        for _ in range(_REDRAWS):
            new_queries, new_documents = self.negatives(rng)
            queries = np.where(wrong, new_queries, queries)
            documents = np.where(wrong, new_documents, documents)
            wrong = self.samples.is_positive(queries, documents)
            if not wrong.any():
                break
        labels = np.zeros((len(queries), 1 + self.num), dtype=np.float32)
        labels[:, 0] = 1.0
        return Groups(
            np.concatenate([self.query_rows[:, None], queries], axis=1),
            np.concatenate([self.document_rows[:, None], documents], axis=1),
            labels,
            np.concatenate([np.ones((len(queries), 1), dtype=np.bool_), ~wrong], axis=1),
        )

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Query and document rows of candidates for negatives."""
        return self.query_rows[:, None], self.random_documents(rng)

    def random_documents(self, rng: np.random.Generator) -> Ids:
        return rng.integers(len(self.samples.documents), size=(len(self.query_rows), self.num))


@SAMPLERS.register("random")
class RandomDocuments(_Drawn):
    """Any document that is not relevant."""


@SAMPLERS.register("own")
class OwnCandidates(_Drawn):
    """The query's own label-0 candidates; a query without any borrows another's."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        super().__init__(samples, config)
        self.lists = samples.own_negatives
        if not len(self.lists.flat):
            raise DataError(
                'negatives = "own" needs candidates with label 0, and the training split has '
                'none; use "random" or "hard"'
            )

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """From the query's list, else from all lists."""
        own = self.lists.draw(self.query_rows, self.num, rng)
        borrowed = self.lists.flat[rng.integers(len(self.lists.flat), size=own.shape)]
        return self.query_rows[:, None], np.where(own >= 0, own, borrowed)


@SAMPLERS.register("hard")
class HardDocuments(_Drawn):
    """Documents that BM25 ranks high for the query although they are not relevant."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        super().__init__(samples, config)
        depth = config.hard_depth
        if depth not in samples.mined:
            samples.mined[depth] = _bm25_lists(samples, depth)
        self.lists = samples.mined[depth]

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """From BM25's list, else any document."""
        hard = self.lists.draw(self.query_rows, self.num, rng)
        return self.query_rows[:, None], np.where(hard >= 0, hard, self.random_documents(rng))


@SAMPLERS.register("replace")
class ReplaceEitherSide(_Drawn):
    """A random text takes the place of the document or of the query, half of the time each."""

    def negatives(self, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """IASM's negatives."""
        documents = self.random_documents(rng)
        queries = rng.integers(len(self.samples.queries), size=documents.shape)
        replace_document = rng.random(documents.shape) < 0.5
        return (
            np.where(replace_document, self.query_rows[:, None], queries),
            np.where(replace_document, documents, self.document_rows[:, None]),
        )


def _bm25_lists(samples: TrainingSet, depth: int) -> Lists:
    names = {str(row): text for row, text in enumerate(samples.document_texts)}
    found = BM25.fit(names).search(samples.query_texts, top_k=min(depth, len(names)))
    rows = np.array(
        [(query, int(document)) for query, hits in enumerate(found) for document in hits],
        dtype=np.int64,
    ).reshape(-1, 2)
    rows = rows[~samples.is_positive(rows[:, 0], rows[:, 1])]
    return Lists.group(rows[:, 0], rows[:, 1], len(samples.queries))

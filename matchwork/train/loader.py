"""Batches of an epoch by length; they follow from (seed, epoch), so that a run can resume."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from matchwork.errors import ConfigError
from matchwork.text import PairBatch
from matchwork.text.batch import Ids, shuffled_buckets
from matchwork.train.samplers import Groups, Sampler
from matchwork.train.samples import TrainingSet


class TrainBatch:
    """Pairs by group; labels and mask are (groups, candidates), or (groups, groups) if in-batch."""

    # Not a dataclass: Lightning would convert its tensors in place, and ours are frozen.
    def __init__(self, pairs: PairBatch, labels: Tensor, mask: Tensor) -> None:
        self.pairs, self.labels, self.mask = pairs, labels, mask

    def to(self, device: torch.device | str) -> "TrainBatch":
        """Return the batch on another device."""
        return TrainBatch(self.pairs.to(device), self.labels.to(device), self.mask.to(device))


class EpochLoader:
    """Iterates over an epoch from `position()`, (epoch, batches done), on; ranks share it out."""

    def __init__(
        self,
        samples: TrainingSet,
        sampler: Sampler,
        batch_size: int,
        *,
        seed: int,
        position: Callable[[], tuple[int, int]] = lambda: (0, 0),
        rank: int = 0,
        num_ranks: int = 1,
    ) -> None:
        self.samples, self.sampler = samples, sampler
        self.batch_size, self.seed, self.position = batch_size, seed, position
        self.rank, self.num_ranks = rank, num_ranks
        num_groups = len(sampler.draw(np.random.default_rng(0)).labels)
        self.num_batches = -(-num_groups // batch_size)
        if self.num_batches < num_ranks:
            # The other devices would wait forever for the one without a batch.
            raise ConfigError(
                f"{num_groups} training groups make {self.num_batches} batches of {batch_size}, "
                f"too few for {num_ranks} devices; lower batch_size or devices"
            )

    def __len__(self) -> int:
        return self.num_batches // self.num_ranks

    def __iter__(self) -> Iterator[TrainBatch]:
        epoch, done = self.position()
        rng = np.random.default_rng([self.seed, epoch])
        groups = self.sampler.draw(rng)
        documents = self.samples.documents.lengths[groups.document_rows].max(axis=1)
        queries = self.samples.queries.lengths[groups.query_rows].max(axis=1)
        batches = shuffled_buckets(documents + queries, self.batch_size, rng)
        mine = batches[self.rank :: self.num_ranks][: len(self)]
        for chosen in mine[done:]:
            yield self._batch(groups, chosen)

    def _batch(self, groups: Groups, chosen: Ids) -> TrainBatch:
        query_rows, document_rows = groups.query_rows[chosen], groups.document_rows[chosen]
        pairs = PairBatch(
            self.samples.queries.gather(query_rows.ravel()),
            self.samples.documents.gather(document_rows.ravel()),
        )
        labels, mask = groups.labels[chosen], groups.mask[chosen]
        if self.sampler.in_batch:
            labels = np.eye(len(chosen), dtype=np.float32)
            # A document that is relevant too, or the same one again, is not a negative.
            relevant = self.samples.is_positive(query_rows, document_rows.T)
            mask = ~relevant | (labels > 0)
        return TrainBatch(pairs, torch.from_numpy(labels), torch.from_numpy(mask))

"""The training loss on dev: one number every so many batches, to see learning and overfitting."""

from collections.abc import Callable

import torch
from torch import Tensor

from matchwork.models import Model
from matchwork.train.config import TrainConfig
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.samples import TrainingSet
from matchwork.train.sampling import SAMPLERS

PAIRS = 2_000  # of dev, at random: enough for a curve, cheap enough to draw one


class DevLoss:
    """The same batches of dev every time, with the same negatives, whatever the seed."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        self.batches: list[TrainBatch] = []
        loader = EpochLoader(
            samples,
            SAMPLERS[config.negatives](samples, config),
            batch_size=config.batch_size,
            seed=0,
            in_batch=config.negatives == "in-batch",
            position=lambda: (0, 0),
        )
        num_pairs = 0
        for batch in loader:
            self.batches.append(batch)
            num_pairs += len(batch.pairs)
            if num_pairs >= PAIRS:
                break

    @torch.no_grad()
    def __call__(self, model: Model, loss_of: Callable[[TrainBatch], Tensor]) -> float:
        """Mean loss of a group, without dropout and in full precision."""
        device, was_training = next(model.parameters()).device, model.training
        model.eval()
        try:
            sums = [loss_of(batch.to(device)) * len(batch.labels) for batch in self.batches]
        finally:
            model.train(was_training)
        return float(torch.stack(sums).sum()) / sum(len(batch.labels) for batch in self.batches)

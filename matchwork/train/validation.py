"""Dev during and after training: measures of an epoch, the loss curve, the calibration."""

from collections.abc import Callable

import torch
from torch import Tensor

from matchwork.errors import DataError
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.matcher.matcher import Matcher
from matchwork.models import Model
from matchwork.rank.calibration import Calibration, fit_calibration
from matchwork.train.config import TrainConfig
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.samples import TrainingSet
from matchwork.types import Run

DEV_LOSS_PAIRS = 2_000


class Validator:
    """Measures a matcher on dev after every epoch, and calibrates it at the end."""

    def __init__(self, dev: MeasuredSplit, matcher: Matcher) -> None:
        self.dev = dev
        self.matcher = matcher
        self._last: Run | None = None

    def __call__(self, model: Model) -> dict[str, float]:
        """Return the dev measures of the matcher; `model` is its model."""
        # True in other processes, too: both were pickled together.
        assert model is self.matcher.model
        if self.matcher.num_classes == 2:
            self._last = self.dev.run(self.matcher)
        return self.dev.evaluate_scorer(self.matcher, self._last).values

    def calibrate(self, last_is_best: bool = False) -> Run:
        """Calibrate the matcher on dev (not if dev has one class) and return its scores there.

        With more than two classes, score and probability are those of class 1. If `last_is_best`,
        dev is not scored again.
        """
        run = (self._last if last_is_best else None) or self.dev.run(self.matcher)
        scores, labels = self.dev.scored_pairs(run)
        # Classes are decided at a probability of 1/2; another curve would move these decisions.
        fit = Calibration.fit if self.dev.task == "classification" else fit_calibration
        try:
            positive = labels == 1 if self.matcher.num_classes > 2 else labels
            self.matcher.calibration = fit(scores, positive)
        except DataError:
            self.matcher.calibration = None
        return run


class DevLoss:
    """The training loss on a fixed random sample of dev, whatever the seed of the run."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        self.batches: list[TrainBatch] = []
        num_pairs = 0
        for batch in EpochLoader(samples, config.make_sampler(samples), config.batch_size, seed=0):
            self.batches.append(batch)
            num_pairs += len(batch.pairs)
            if num_pairs >= DEV_LOSS_PAIRS:
                break

    @torch.no_grad()
    def __call__(self, model: Model, batch_loss: Callable[[TrainBatch], Tensor]) -> float:
        """Return the mean loss of a group, without dropout and in full precision."""
        device, was_training = next(model.parameters()).device, model.training
        model.eval()
        try:
            sums = [batch_loss(batch.to(device)) * len(batch.labels) for batch in self.batches]
        finally:
            model.train(was_training)
        return float(torch.stack(sums).sum()) / sum(len(batch.labels) for batch in self.batches)

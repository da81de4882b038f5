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
from matchwork.train.result import TrainResult
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

    def calibrate(self, trained: TrainResult) -> Run:
        """Fit the matcher's calibration on dev and return its dev run.

        Dev is not scored again if the last epoch, scored last, was the best.
        """
        is_last = trained.best_epoch == len(trained.history)
        return calibrate(self.matcher, self.dev, self._last if is_last else None)


def calibrate(matcher: Matcher, dev: MeasuredSplit, run: Run | None = None) -> Run:
    """Fit the matcher's calibration on dev; it gets none if dev has one class only.

    Args:
        matcher: The matcher to calibrate. With more than two classes, its score and probability
            are those of class 1.
        dev: The dev split.
        run: The matcher's scores on dev, if they are known.

    Returns:
        The matcher's scores on dev.
    """
    run = run or dev.run(matcher)
    scores, labels = dev.scored_pairs(run)
    try:
        positive = labels == 1 if matcher.num_classes > 2 else labels
        # Classes are decided at a probability of 1/2; another curve would move these decisions.
        fit = Calibration.fit if dev.task == "classification" else fit_calibration
        matcher.calibration = fit(scores, positive)
    except DataError:
        matcher.calibration = None
    return run


class DevLoss:
    """The training loss on a fixed random sample of dev, whatever the seed of the run."""

    def __init__(self, samples: TrainingSet, config: TrainConfig) -> None:
        self.batches: list[TrainBatch] = []
        loader = EpochLoader(
            samples,
            config.make_sampler(samples),
            batch_size=config.batch_size,
            seed=0,
            position=lambda: (0, 0),
        )
        num_pairs = 0
        for batch in loader:
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

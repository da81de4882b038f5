"""What training asks of dev: the measure after every epoch, and the calibration at the end."""

from matchwork.errors import DataError
from matchwork.matcher.matcher import Matcher
from matchwork.matcher.measured import MeasuredSplit
from matchwork.models import Model
from matchwork.rank.calibration import Calibration, fit_calibration
from matchwork.train.result import TrainResult
from matchwork.types import Run


class Validator:
    """What training calls after every epoch: the model's measures on dev."""

    def __init__(self, dev: MeasuredSplit, matcher: Matcher) -> None:
        self.dev = dev
        self.matcher = matcher
        self._last: Run | None = None

    def __call__(self, model: Model) -> dict[str, float]:
        """Return the dev measures of the matcher, whose model is the one being trained."""
        assert model is self.matcher.model  # also in a process of its own: pickled together
        if self.matcher.num_classes == 2:
            self._last = self.dev.run(self.matcher)
        return self.dev.evaluate_matcher(self.matcher, self._last).values

    def calibrate(self, trained: TrainResult) -> Run:
        """Fit the matcher's probabilities on dev, and give its run there.

        It is not ranked again where the last epoch, the one measured last, was the best.
        """
        is_last = trained.best_epoch == len(trained.history)
        return calibrate(self.matcher, self.dev, self._last if is_last else None)


def calibrate(matcher: Matcher, dev: MeasuredSplit, run: Run | None = None) -> Run:
    """Fit the matcher's probabilities on dev; left out when dev has one class only.

    Of more than two classes, the score and its probability are those of class 1.
    Gives the run on dev, which takes as long as the fit does not.
    """
    run = run or dev.run(matcher)
    scores, labels = dev.scored_pairs(run)
    try:
        positive = labels == 1 if matcher.num_classes > 2 else labels
        # A classification is read off at one half: a curve of another kind would move its results.
        fit = Calibration.fit if dev.task == "classification" else fit_calibration
        matcher.calibration = fit(scores, positive)
    except DataError:
        matcher.calibration = None
    return run

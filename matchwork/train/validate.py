"""What training asks of dev: the measure after every epoch, and the calibration at the end."""

from matchwork.errors import DataError
from matchwork.models import MatchModel
from matchwork.rank.calibration import Calibration
from matchwork.rank.matcher import Matcher
from matchwork.rank.measured import MeasuredSplit


class Validator:
    """What training calls after every epoch: the model's measures on dev."""

    def __init__(self, dev: MeasuredSplit, matcher: Matcher) -> None:
        self.dev = dev
        self.matcher = matcher

    def __call__(self, model: MatchModel) -> dict[str, float]:
        """Dev measures of the model as it is now."""
        self.matcher.model = model
        return self.dev.evaluate(self.dev.run(self.matcher)).values


def calibrate(matcher: Matcher, dev: MeasuredSplit) -> None:
    """Fit the matcher's probabilities on dev; left out when dev has one class only."""
    scores, labels = dev.scored_pairs(dev.run(matcher))
    try:
        matcher.calibration = Calibration.fit(scores, labels)
    except DataError:
        matcher.calibration = None

"""Training: losses, negatives, batches by length, and a resumable Lightning run."""

from matchwork.callable_package import make_callable
from matchwork.train.api import train
from matchwork.train.config import TrainConfig
from matchwork.train.fit import FitResult, fit
from matchwork.train.losses import LOSSES
from matchwork.train.samples import TrainingSet
from matchwork.train.sampling import SAMPLERS

__all__ = ["LOSSES", "SAMPLERS", "FitResult", "TrainConfig", "TrainingSet", "fit", "train"]

make_callable(__name__)

"""Training: losses, negatives, batches by length, and a resumable Lightning run."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names, make_callable
from matchwork.train.config import TrainConfig
from matchwork.train.losses import LOSSES
from matchwork.train.samples import TrainingSet
from matchwork.train.sampling import SAMPLERS

if TYPE_CHECKING:
    from matchwork.train.api import train as train
    from matchwork.train.fitting import FitResult as FitResult
    from matchwork.train.fitting import fit as fit

__all__ = ["LOSSES", "SAMPLERS", "FitResult", "TrainConfig", "TrainingSet", "fit", "train"]

__getattr__ = lazy_names(
    __name__,
    {
        "FitResult": "matchwork.train.fitting",
        "fit": "matchwork.train.fitting",
        "train": "matchwork.train.api",
    },
)
make_callable(__name__)

"""Training: losses, negative samplers, batches by length, and a resumable Lightning run."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names, make_callable
from matchwork.train.config import TrainConfig
from matchwork.train.losses import LOSSES, register_loss
from matchwork.train.optimizers import OPTIMIZERS, SCHEDULES
from matchwork.train.run import TrainObserver, TrainResult
from matchwork.train.samplers import SAMPLERS, Sampler
from matchwork.train.samples import TrainingSet

if TYPE_CHECKING:
    from matchwork.train.api import TrainingData, train

__all__ = [
    "LOSSES",
    "OPTIMIZERS",
    "SAMPLERS",
    "SCHEDULES",
    "Sampler",
    "TrainConfig",
    "TrainObserver",
    "TrainResult",
    "TrainingData",
    "TrainingSet",
    "register_loss",
    "train",
]
# Lightning is loaded when a training begins.
__getattr__ = lazy_names(__name__, dict.fromkeys(("TrainingData", "train"), "matchwork.train.api"))
make_callable(__name__)

"""Training: losses, negative samplers, batches by length, and a resumable Lightning run."""

from typing import TYPE_CHECKING

from matchwork.packages import lazy_names, make_callable
from matchwork.train.config import TrainConfig
from matchwork.train.losses import LOSSES, register_loss
from matchwork.train.optimizers import OPTIMIZERS, SCHEDULES
from matchwork.train.samplers import SAMPLERS, Sampler
from matchwork.train.samples import TrainingSet

if TYPE_CHECKING:
    from matchwork.train.api import TrainingData as TrainingData
    from matchwork.train.api import train as train
    from matchwork.train.fitting import fit as fit
    from matchwork.train.result import TrainObserver as TrainObserver
    from matchwork.train.result import TrainResult as TrainResult

_HOMES = {
    "TrainObserver": "matchwork.train.result",
    "TrainResult": "matchwork.train.result",
    "TrainingData": "matchwork.train.api",
    "fit": "matchwork.train.fitting",
    "train": "matchwork.train.api",
}
__all__ = [
    "LOSSES",
    "OPTIMIZERS",
    "SAMPLERS",
    "SCHEDULES",
    "Sampler",
    "TrainConfig",
    "TrainingSet",
    "register_loss",
    *_HOMES,
]
__getattr__ = lazy_names(__name__, _HOMES)
make_callable(__name__)

"""`fit` with its arguments in one call: training without tokenising and calibration."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matchwork.models import Model
from matchwork.train import TrainConfig, TrainingSet, TrainResult
from matchwork.train.config import stage_configs
from matchwork.train.fitting import fit as fit_run
from matchwork.train.run import TrainingRun


def fit(
    model: Model,
    samples: TrainingSet,
    config: TrainConfig,
    *,
    folder: Path | None = None,
    stages: Any = None,
    **others: Any,
) -> TrainResult:
    """Fit in `folder`, or in one that is removed afterwards."""
    configs = stage_configs(model.config, stages or {}, "stages")
    with nullcontext(folder) if folder else TemporaryDirectory() as path:
        return fit_run(TrainingRun(model, samples, config, Path(path), stages=configs, **others))

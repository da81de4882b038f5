"""`matchwork.train`: a matcher and a data set in, a trained and calibrated matcher out."""

import gc
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matchwork.config import build
from matchwork.data.classes import check_classes
from matchwork.data.dataset import Dataset
from matchwork.errors import ConfigError
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.matcher.matcher import Matcher
from matchwork.models import Model, StageConfig
from matchwork.train.config import TrainConfig, stage_configs
from matchwork.train.fitting import fit
from matchwork.train.run import TrainingRun, TrainObserver, TrainResult
from matchwork.train.samples import TrainingSet
from matchwork.train.validation import Validator


@dataclass(frozen=True)
class TrainingData:
    """Tokenised training pairs, and the dev split that chooses the epoch.

    Attributes:
        train: The training pairs.
        dev: The dev split and how it is measured; None: the last epoch counts as best.
        dev_samples: The tokenised dev pairs, for `dev_loss_every` and for stages.
    """

    train: TrainingSet
    dev: MeasuredSplit | None = None
    dev_samples: TrainingSet | None = None

    @classmethod
    def from_dataset(
        cls, data: Dataset, matcher: Matcher, dev_measure: str, with_dev_samples: bool
    ) -> "TrainingData":
        """Tokenise the splits `train` and `dev` (if there is one) as `matcher` reads texts."""
        for name in {"train", "dev"} & data.splits.keys():
            check_classes(data[name], data.task, matcher.num_classes, matcher.name)

        def tokenised(split: str) -> TrainingSet:
            limits = matcher.max_query_length, matcher.max_document_length
            return TrainingSet.from_split(data[split], matcher.tokenizer, *limits)

        if "dev" not in data.splits:
            return cls(tokenised("train"))
        dev = MeasuredSplit(
            data["dev"], data.protocol, (dev_measure,), data.task, num_classes=matcher.num_classes
        )
        return cls(tokenised("train"), dev, tokenised("dev") if with_dev_samples else None)


def train(
    matcher: Matcher,
    data: Dataset | TrainingData,
    *,
    config: TrainConfig | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    resume: bool = False,
    show_progress: bool = False,
    observer: TrainObserver | None = None,
    stages: Mapping[str, StageConfig | Mapping[str, Any]] | None = None,
    stage_cache: str | Path | None = None,
    **settings: Any,
) -> TrainResult:
    """Train a matcher in place, choose the best epoch on dev and calibrate the scores there.

    Args:
        matcher: The matcher to train; it ends with the weights of the best epoch.
        data: A data set with a split `train` and, for choosing the epoch and calibrating, `dev`;
            or pairs that are tokenised already.
        config: All training settings. Without it, the model's own defaults apply, changed by
            `settings`.
        seed: Decides negatives, the order of batches and dropout.
        folder: Where checkpoints, logs and history go; None: nothing is left on disk.
        resume: Go on from the last checkpoint in `folder`.
        show_progress: Show a progress bar.
        observer: Called as the run goes on.
        stages: Settings of the model's stages by name, if it has any.
        stage_cache: Folder where finished stages are found again by later runs; None: nowhere.
        settings: Fields of `TrainConfig`, in place of `config`.

    Raises:
        ConfigError: Settings do not fit each other, the model or the data.
        TrainingError: The loss or a weight is no longer finite.
    """
    if config is None:
        config = train_config(matcher.model, settings)
    elif settings:
        raise ConfigError(f"give either config or settings, got both: {', '.join(settings)}")
    configs = stage_configs(matcher.model.config, stages or {}, "stages")
    if isinstance(data, Dataset):
        with_dev = bool(config.dev_loss_every or configs)
        data = TrainingData.from_dataset(data, matcher, config.dev_measure, with_dev)
    if resume and folder is None:
        raise ConfigError("resume needs the folder of the run that is to be continued")
    validator = None if data.dev is None else Validator(data.dev, matcher)
    with nullcontext(folder) if folder else TemporaryDirectory(prefix="matchwork-") as path:
        run = TrainingRun(
            matcher.model,
            data.train,
            config,
            Path(path),
            seed=seed,
            validate=validator,
            dev_samples=data.dev_samples,
            resume=resume,
            show_progress=show_progress,
            observer=observer or TrainObserver(),
            stages=configs,
            stage_cache=Path(stage_cache) if stage_cache else None,
        )
        result = replace(fit(run), folder=Path(folder) if folder else None)
    return _calibrated(result, run, validator) if validator else result


def _calibrated(result: TrainResult, run: TrainingRun, validator: Validator) -> TrainResult:
    """Fit the matcher's probabilities on dev, on the device of training."""
    began = time.monotonic()
    # Trainer and optimizer refer to each other and hold several times the weights.
    gc.collect()
    run.observer.calibrate()
    matcher = validator.matcher
    home = matcher.device
    if run.config.uses_gpu:
        matcher.to("cuda")
    try:
        dev_run = validator.calibrate(last_is_best=result.best_epoch == len(result.history))
    finally:
        matcher.to(home)
    seconds = result.seconds + time.monotonic() - began
    return replace(result, calibration=matcher.calibration, dev_run=dev_run, seconds=seconds)


def train_config(model: Model, settings: Mapping[str, Any]) -> TrainConfig:
    """Return the model's training defaults with `settings` on top."""
    return build(TrainConfig, {**model.training_defaults, **settings}, "training settings")

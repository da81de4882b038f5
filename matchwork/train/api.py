"""`matchwork.train`: a matcher, a data set, done."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matchwork.config import build
from matchwork.data.classes import check_classes
from matchwork.data.dataset import Dataset
from matchwork.matcher.matcher import Matcher
from matchwork.matcher.measured import MeasuredSplit
from matchwork.models import Model
from matchwork.train.config import TrainConfig
from matchwork.train.fitting import FitResult, fit
from matchwork.train.keeper import OnEpoch
from matchwork.train.samples import TrainingSet
from matchwork.train.stage_settings import stage_configs
from matchwork.train.stages import StagePlan
from matchwork.train.validate import Validator


def train(
    matcher: Matcher,
    data: Dataset,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
    on_epoch: OnEpoch | None = None,
    stages: Mapping[str, Mapping[str, Any]] | None = None,
    stage_cache: str | Path | None = None,
    **settings: Any,
) -> FitResult:
    """Train on the data set's `train` split, choose the epoch and calibrate on `dev`.

    `settings` are fields of `TrainConfig`; the model's own defaults fill the rest. Of a model
    that has stages, `stages` are the settings of each by its name, and one that was trained
    before with the same settings and data is taken from the folder `stage_cache`.
    """
    config = train_config(matcher.model, settings)
    configs = stage_configs(matcher.model.config, stages or {}, "stages")
    for name in {"train", "dev"} & data.splits.keys():
        check_classes(data[name], data.task, matcher.num_classes, matcher.name)

    def samples(split: str) -> TrainingSet:
        limits = matcher.max_query_length, matcher.max_document_length
        return TrainingSet.from_split(data[split], matcher.tokenizer, *limits)

    dev = None
    if "dev" in data.splits:
        measures = (config.dev_measure,)
        dev = MeasuredSplit(
            data["dev"], data.protocol, measures, data.task, num_classes=matcher.num_classes
        )
    validator = None if dev is None else Validator(dev, matcher)
    result = fit(
        matcher.model,
        samples("train"),
        config,
        seed=seed,
        validate=validator,
        dev_samples=samples("dev") if dev and (config.dev_loss_every or configs) else None,
        folder=folder,
        resume=resume,
        progress=progress,
        on_epoch=on_epoch,
        stages=StagePlan(configs, Path(stage_cache) if stage_cache else None),
    )
    if validator is not None:
        validator.calibrate(result)
    return result


def train_config(model: Model, settings: dict[str, Any]) -> TrainConfig:
    """The model's training defaults with the given settings on top."""
    return build(TrainConfig, {**model.training_defaults, **settings}, "training settings")

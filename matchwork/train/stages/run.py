"""Trains the stages of a model in order, or takes them from the cache; see `models.stage`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from matchwork.errors import ConfigError, OutputError
from matchwork.models import Model, Stage, StageConfig, Staged, Texts
from matchwork.registry import did_you_mean
from matchwork.train.config import TrainConfig
from matchwork.train.result import TrainObserver
from matchwork.train.stages.files import (
    StageResult,
    load_stage,
    run_hash,
    save_stage,
    stage_hash,
    state_of,
)
from matchwork.train.stages.loop import StageLoop, training_only
from matchwork.train.state import BEST, LAST, TrainState

STAGES, FINISHED = "stages", "stage.safetensors"


def run_stages(
    model: Model,
    texts: Texts,
    dev: Texts | None,
    configs: Mapping[str, StageConfig],
    settings: TrainConfig,
    *,
    seed: int,
    folder: Path,
    cache: Path | None,
    observer: TrainObserver,
) -> list[StageResult]:
    """Train every stage of `model`, or load it if an equal one is finished.

    Args:
        model: The model, whose parts are trained in place.
        texts: The training texts.
        dev: The dev texts, or None.
        configs: Settings by stage; defaults for those left out.
        settings: Settings of the whole training, of which precision, accelerator and
            `checkpoint_seconds` apply here.
        seed: The run's seed.
        folder: Gets a folder for each stage; a stage that was interrupted there is resumed.
        cache: Folder of finished stages of other runs, or None.
        observer: Called as stages go on.
    """
    torch.manual_seed(seed)  # for parts that only stages need, made in the next line
    stages = model.stages() if isinstance(model, Staged) else ()
    _configure(stages, configs)
    if not isinstance(model, Staged) or not stages:
        return []
    splits = [texts] if dev is None else [texts, dev]
    shared = run_hash(model.encoder, settings.precision, seed)
    results: list[StageResult] = []
    with _on_device(model, stages, settings) as device:
        for number, stage in enumerate(stages, start=1):
            run = _StageRun(stage, model, cache, folder / stage.name)
            identity = stage_hash(stage, shared, splits, results)
            result = run.load(identity)
            observer.begin_stage(stage.name, number, len(stages), reused=result is not None)
            if result is None:
                with training_only(stage.module, model):
                    loop = StageLoop(
                        stage,
                        texts,
                        dev,
                        settings=settings,
                        seed=seed,
                        folder=run.folder,
                        fingerprint=identity,
                        device=device,
                        observer=observer,
                    )
                    result = run.save(loop.run(), identity)
            results.append(result)
    model.after_stages()
    observer.begin_model()
    return results


def _configure(stages: Sequence[Stage], configs: Mapping[str, StageConfig]) -> None:
    """Give each stage its settings; refuse settings of unknown stages."""
    by_name = {stage.name: stage for stage in stages}
    for name, config in configs.items():
        if name not in by_name:
            raise ConfigError(f"no stage named {name!r}; {did_you_mean(name, by_name)}")
        by_name[name].config = config


@contextmanager
def _on_device(
    model: Model, stages: Sequence[Stage], settings: TrainConfig
) -> Iterator[torch.device]:
    """Put the model on the training device, in its precision, while the block runs."""
    first = next(model.parameters())
    home, dtype = first.device, first.dtype
    on_gpu = settings.accelerator != "cpu" and torch.cuda.is_available()
    device = torch.device("cuda") if on_gpu else home
    double = settings.precision == "64"
    parts = (model, *(stage.module for stage in stages))
    try:
        for part in parts:
            part.to(device=device, dtype=torch.float64 if double else None)
        yield device
    finally:
        for part in parts:
            part.to(device=home, dtype=dtype if double else None)


class _StageRun:
    """The files of one stage: in the folder of the run, and in the cache."""

    def __init__(self, stage: Stage, model: Model, cache: Path | None, folder: Path) -> None:
        self.stage, self.model = stage, model
        self.cache, self.folder = cache, folder

    def load(self, identity: str) -> StageResult | None:
        """Load the weights of the stage and return its result, or None if it is not finished."""
        own = load_stage(self.folder / FINISHED)
        if own is not None:
            weights, result = own
            if result.hash != identity:
                raise ConfigError(
                    f"{self.folder} belongs to other settings or data; resume with the recipe "
                    "that began the run, or choose another --out"
                )
            self._load_weights(weights)
            return result
        cached = load_stage(self._cached(identity)) if self.cache else None
        if cached is None or cached[1].hash != identity:
            return None
        weights, result = cached[0], replace(cached[1], reused=True)
        self._load_weights(weights)
        save_stage(self.folder / FINISHED, weights, result)
        return result

    def save(self, state: TrainState, identity: str) -> StageResult:
        """Write the finished stage to the run and the cache, and remove its checkpoints."""
        result = StageResult(
            self.stage.name,
            identity,
            state.best_epoch,
            state.best_value,
            state.history,
            seconds=round(sum(record["seconds"] for record in state.history), 1),
        )
        weights = state_of(self.stage.module, within=self.model)
        if self.cache is not None:
            with suppress(OutputError):  # a cache that cannot be written does not stop the run
                save_stage(self._cached(identity), weights, result)
        save_stage(self.folder / FINISHED, weights, result)
        for name in (LAST, BEST):
            (self.folder / name).unlink(missing_ok=True)
        return result

    def _load_weights(self, weights: dict[str, Tensor]) -> None:
        # Not strict: parts that only training needs, such as a softmax over words, are not saved.
        self.stage.module.load_state_dict(weights, strict=False)

    def _cached(self, identity: str) -> Path:
        assert self.cache is not None
        return self.cache / f"{identity}.safetensors"

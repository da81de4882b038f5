"""The stages of a model, one after the other; what a stage is stands in `models.stage`."""

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
from matchwork.train.stage_file import (
    StageResult,
    load_stage,
    run_hash,
    save_stage,
    stage_hash,
    state_of,
)
from matchwork.train.stage_loop import StageLoop, training_only
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
    """Train every stage of `model`, or fetch it from where it was trained before.

    `folder` receives a folder for each; one that is under way there goes on. Of `settings`,
    those of the whole training, precision, accelerator and `checkpoint_seconds` hold here too.
    """
    torch.manual_seed(seed)  # the parts that only stages need are made in the next line
    stages = model.stages() if isinstance(model, Staged) else ()
    _configure(stages, configs)
    if not isinstance(model, Staged) or not stages:
        return []
    splits = [texts] if dev is None else [texts, dev]
    shared = run_hash(model.encoder, settings.precision, seed)
    results: list[StageResult] = []
    with _in_place(model, stages, settings) as device:
        for number, stage in enumerate(stages, start=1):
            run = _StageRun(stage, model, cache, folder / stage.name)
            identity = stage_hash(stage, shared, splits, results)
            result = run.found(identity)
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
                    result = run.keep(loop.run(), identity)
            results.append(result)
    model.after_stages()
    observer.begin_model()
    return results


def _configure(stages: Sequence[Stage], configs: Mapping[str, StageConfig]) -> None:
    """Give each stage its settings; those of a stage that there is not are a mistake."""
    by_name = {stage.name: stage for stage in stages}
    for name, config in configs.items():
        if name not in by_name:
            raise ConfigError(f"no stage named {name!r}; {did_you_mean(name, by_name)}")
        by_name[name].config = config


@contextmanager
def _in_place(
    model: Model, stages: Sequence[Stage], settings: TrainConfig
) -> Iterator[torch.device]:
    """The model on the device of training and in its precision, for a while."""
    first = next(model.parameters())
    home, precision = first.device, first.dtype
    on_gpu = settings.accelerator != "cpu" and torch.cuda.is_available()
    device = torch.device("cuda") if on_gpu else home
    wide = settings.precision == "64"
    parts = (model, *(stage.module for stage in stages))
    try:
        for part in parts:
            part.to(device=device, dtype=torch.float64 if wide else None)
        yield device
    finally:
        for part in parts:
            part.to(device=home, dtype=precision if wide else None)


class _StageRun:
    """A stage in the folder of a run, and where others have left theirs."""

    def __init__(self, stage: Stage, model: Model, cache: Path | None, folder: Path) -> None:
        self.stage, self.model = stage, model
        self.cache, self.folder = cache, folder

    def found(self, identity: str) -> StageResult | None:
        """The result of the stage if it is finished, its weights in place."""
        own = load_stage(self.folder / FINISHED)
        if own is not None:
            weights, result = own
            if result.hash != identity:
                raise ConfigError(
                    f"{self.folder} belongs to other settings or data; resume with the recipe "
                    "that began the run, or choose another --out"
                )
            self._put(weights)
            return result
        cached = load_stage(self._shared(identity)) if self.cache else None
        if cached is None or cached[1].hash != identity:
            return None
        weights, result = cached[0], replace(cached[1], reused=True)
        self._put(weights)
        save_stage(self.folder / FINISHED, weights, result)
        return result

    def keep(self, state: TrainState, identity: str) -> StageResult:
        """Write the finished stage for this run and for others; checkpoints are then rubbish."""
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
            with suppress(OutputError):  # a full or forbidden cache is no reason to lose a stage
                save_stage(self._shared(identity), weights, result)
        save_stage(self.folder / FINISHED, weights, result)
        for name in (LAST, BEST):
            (self.folder / name).unlink(missing_ok=True)
        return result

    def _put(self, weights: dict[str, Tensor]) -> None:
        # Not strict: what only training needs, such as a softmax layer over words, is not kept.
        self.stage.module.load_state_dict(weights, strict=False)

    def _shared(self, identity: str) -> Path:
        assert self.cache is not None
        return self.cache / f"{identity}.safetensors"

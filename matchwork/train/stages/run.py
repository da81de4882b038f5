"""Trains the stages of a model in order, or takes them from the cache; see `models.stage`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import torch

from matchwork.errors import ConfigError, OutputError
from matchwork.files import user_cache
from matchwork.models import Model, Stage
from matchwork.train.config import TrainConfig
from matchwork.train.run import TrainingRun
from matchwork.train.stages.files import (
    StageResult,
    load_stage,
    run_hash,
    save_stage,
    stage_hash,
    state_of,
)
from matchwork.train.stages.loop import StageLoop, training_only
from matchwork.train.state import TrainState, drop_checkpoint

STAGES, FINISHED = "stages", "stage.safetensors"
CACHE_VARIABLE = "MATCHWORK_STAGE_CACHE"


def stage_cache() -> Path:
    """Return the folder of finished stages: `MATCHWORK_STAGE_CACHE`, or in the user's cache."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache() / "stages"


def run_stages(run: TrainingRun) -> list[StageResult]:
    """Train every stage of the run's model, or load it if an equal one is finished.

    Each stage has a folder in `stages` of the run's folder, and is resumed from there.
    """
    model = run.model
    torch.manual_seed(run.seed)  # for parts that only stages need, made in the next line
    stages = model.stages()
    if not stages:
        return []
    splits = [run.samples] if run.dev_samples is None else [run.samples, run.dev_samples]
    shared = run_hash(model.encoder, run.config.precision, run.seed)
    results: list[StageResult] = []
    with _on_device(model, stages, run.config) as device:
        for number, stage in enumerate(stages, start=1):
            stage.config = run.stages.get(stage.name, stage.config)
            files = _StageFiles(stage, run, stage_hash(stage, shared, splits, results))
            result = files.load()
            run.observer.begin_stage(stage.name, number, len(stages), reused=result is not None)
            if result is None:
                with training_only(stage.module, model):
                    loop = StageLoop(stage, run, files.folder, files.identity, device)
                    result = files.save(loop.run())
            results.append(result)
    model.after_stages()
    run.observer.begin_model()
    return results


@contextmanager
def _on_device(
    model: Model, stages: Sequence[Stage], settings: TrainConfig
) -> Iterator[torch.device]:
    """Put the model on the training device, in its precision, while the block runs."""
    first = next(model.parameters())
    home, dtype = first.device, first.dtype
    device = torch.device("cuda") if settings.uses_gpu else home
    double = settings.precision == "64"
    parts = (model, *(stage.module for stage in stages))
    try:
        for part in parts:
            part.to(device=device, dtype=torch.float64 if double else None)
        yield device
    finally:
        for part in parts:
            part.to(device=home, dtype=dtype if double else None)


class _StageFiles:
    """A finished stage in the folder of the run, and in the cache."""

    def __init__(self, stage: Stage, run: TrainingRun, identity: str) -> None:
        self.stage, self.model, self.identity = stage, run.model, identity
        self.folder = run.folder / STAGES / stage.name
        self.cached = run.stage_cache and run.stage_cache / f"{identity}.safetensors"

    def load(self) -> StageResult | None:
        """Load the weights of the stage and return its result, or None if it is not finished."""
        own = load_stage(self.folder / FINISHED)
        if own is not None and own[1].hash != self.identity:
            raise ConfigError(
                f"{self.folder} belongs to other settings or data; resume with the recipe "
                "that began the run, or choose another --out"
            )
        finished = own or (load_stage(self.cached) if self.cached else None)
        if finished is None or finished[1].hash != self.identity:
            return None
        weights, result = finished
        # Not strict: parts that only training needs, such as a softmax over words, are not saved.
        self.stage.module.load_state_dict(weights, strict=False)
        if own is None:
            result = replace(result, reused=True)
            save_stage(self.folder / FINISHED, weights, result)
        return result

    def save(self, state: TrainState) -> StageResult:
        """Write the finished stage to the run and the cache, and remove its checkpoints."""
        result = StageResult(
            self.stage.name,
            self.identity,
            state.best_epoch,
            state.best_value,
            state.history,
            seconds=round(sum(record["seconds"] for record in state.history), 1),
        )
        weights = state_of(self.stage.module, within=self.model)
        if self.cached is not None:
            with suppress(OutputError):  # a cache that cannot be written does not stop the run
                save_stage(self.cached, weights, result)
        save_stage(self.folder / FINISHED, weights, result)
        drop_checkpoint(self.folder)
        return result

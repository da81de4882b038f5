"""Trains the stages of a model in order, or takes them from the cache; see `models.stage`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from json import dumps, loads
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn

from matchwork.config import to_table
from matchwork.encode import Encoder
from matchwork.errors import ConfigError, OutputError
from matchwork.files import atomic_write, user_cache
from matchwork.models import Model, Stage, Texts
from matchwork.train.config import TrainConfig
from matchwork.train.run import StageResult, TrainingRun
from matchwork.train.stage_loop import StageLoop, training_only
from matchwork.train.state import TrainState, drop_checkpoint, fingerprint, state_of
from matchwork.version import VERSION

_UNUSED_BY_STAGES = ("trainable", "cross_encode")  # encoder settings without effect on stages
STAGES, FINISHED = "stages", "stage.safetensors"
CACHE_VARIABLE = "MATCHWORK_STAGE_CACHE"


def stage_cache() -> Path:
    """Return the folder of finished stages: `MATCHWORK_STAGE_CACHE`, or in the user's cache."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache() / "stages"


def run_stages(run: TrainingRun) -> list[StageResult]:
    """Train each stage of the model, resume it from its folder, or load an equal finished one."""
    model = run.model
    torch.manual_seed(run.seed)  # for parts that only stages need, made in the next line
    stages = model.stages()
    if not stages:
        return []
    splits = [run.samples] if run.dev_samples is None else [run.samples, run.dev_samples]
    shared = _run_hash(model.encoder, run.config.precision, run.seed)
    results: list[StageResult] = []
    with _on_device(model, stages, run.config) as device:
        for number, stage in enumerate(stages, start=1):
            stage.config = run.stages.get(stage.name, stage.config)
            files = _StageFiles(stage, run, _stage_hash(stage, shared, splits, results))
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
        own = _load(self.folder / FINISHED)
        if own is not None and own[1].hash != self.identity:
            raise ConfigError(
                f"{self.folder} belongs to other settings or data; resume with the recipe "
                "that began the run, or choose another --out"
            )
        finished = own or (_load(self.cached) if self.cached else None)
        if finished is None or finished[1].hash != self.identity:
            return None
        weights, result = finished
        # Not strict: parts that only training needs, such as a softmax over words, are not saved.
        self.stage.module.load_state_dict(weights, strict=False)
        if own is None:
            result = replace(result, reused=True)
            _save(self.folder / FINISHED, weights, result)
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
                _save(self.cached, weights, result)
        _save(self.folder / FINISHED, weights, result)
        drop_checkpoint(self.folder)
        return result


def _run_hash(encoder: Encoder, precision: str, seed: int) -> str:
    """Return a hash of what all stages of a run share except texts."""
    config = to_table(encoder.config)
    config = {key: value for key, value in config.items() if key not in _UNUSED_BY_STAGES}
    # Another version may train differently.
    return _hash(encoder, [VERSION, encoder.kind, config, precision, seed])


def _stage_hash(
    stage: Stage, shared: str, splits: Sequence[Texts], earlier: Sequence[StageResult]
) -> str:
    """Return a hash of all that decides a stage's weights; call it before the stage is trained."""
    used = [each.hash for each in earlier if stage.after is None or each.name in stage.after]
    settings = [stage.name, to_table(stage.config), dict(stage.reads), repr(stage.module)]
    tables = [
        {"query": split.queries, "document": split.documents}[side]
        for split in splits
        for side in stage.sides
    ]
    texts = [array.tobytes() for table in tables for array in (table.starts, table.flat)]
    return _hash(stage.module, [*settings, shared, len(splits), used], *texts)


def _hash(module: nn.Module, values: list[Any], *data: bytes) -> str:
    state = module.state_dict()
    shapes = [[name, str(each.dtype), list(each.shape)] for name, each in state.items()]
    weights = (each.detach().cpu().reshape(-1).view(torch.uint8) for each in state.values())
    return fingerprint([*values, shapes], *(each.numpy().tobytes() for each in weights), *data)


def _save(path: Path, weights: dict[str, Tensor], result: StageResult) -> None:
    """Write a finished stage; the file is either complete or absent."""
    with atomic_write(path, "wb") as stream:
        stream.write(to_safetensors(weights, {"result": dumps(asdict(result))}))


def _load(path: Path) -> tuple[dict[str, Tensor], StageResult] | None:
    """Return weights and result of a finished stage; None if there is no readable one."""
    try:
        with safe_open(path, "pt") as content:
            result = StageResult(**loads(content.metadata()["result"]))
            return {name: content.get_tensor(name) for name in content.keys()}, result  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, KeyError, ValueError):
        return None

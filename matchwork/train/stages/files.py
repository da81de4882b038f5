"""A finished stage on disk: its weights, its result and a hash of all that decided them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from json import dumps, loads
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn

from matchwork.config import to_table
from matchwork.encode import Encoder
from matchwork.files import atomic_write
from matchwork.models import Stage, Texts
from matchwork.version import VERSION

_UNUSED_BY_STAGES = ("trainable", "cross_encode")  # encoder settings without effect on stages


@dataclass(frozen=True)
class StageResult:
    """What happened in a stage.

    Attributes:
        name: The stage's name.
        hash: Identity of the stage with all that decided its weights.
        best_epoch: The epoch (from 1) whose weights are used.
        best_loss: Its loss on dev; None without dev.
        history: One record per epoch.
        seconds: Time of all epochs.
        reused: Whether the weights come from another run.
    """

    name: str
    hash: str
    best_epoch: int
    best_loss: float | None
    history: list[dict[str, float]]
    seconds: float
    reused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the number of epochs in place of the history."""
        table = {key: value for key, value in asdict(self).items() if key != "history"}
        return {**table, "epochs": len(self.history)}


def state_of(module: nn.Module, within: nn.Module | None = None) -> dict[str, Tensor]:
    """Return copies of weights and buffers on the CPU; if given, only those `within` has too."""
    state = module.state_dict(keep_vars=True)
    if within is not None:
        shared = {id(tensor) for tensor in within.state_dict(keep_vars=True).values()}
        state = {name: tensor for name, tensor in state.items() if id(tensor) in shared}
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items()}


def run_hash(encoder: Encoder, precision: str, seed: int) -> str:
    """Return a hash of what all stages of a run share except texts."""
    config = to_table(encoder.config)
    config = {key: value for key, value in config.items() if key not in _UNUSED_BY_STAGES}
    # Another version may train differently.
    return _hash(encoder, [VERSION, encoder.kind, config, precision, seed])


def stage_hash(
    stage: Stage, shared: str, splits: Sequence[Texts], earlier: Sequence[StageResult]
) -> str:
    """Return a hash of all that decides a stage's weights; call it before the stage is trained.

    `shared` is the `run_hash`, `earlier` the results of the stages before.
    """
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
    digest = blake2b(dumps(values, sort_keys=True).encode(), digest_size=16)
    for name, tensor in module.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def save_stage(path: Path, weights: dict[str, Tensor], result: StageResult) -> None:
    """Write a finished stage; the file is either complete or absent."""
    with atomic_write(path, "wb") as stream:
        stream.write(to_safetensors(weights, {"result": dumps(asdict(result))}))


def load_stage(path: Path) -> tuple[dict[str, Tensor], StageResult] | None:
    """Return weights and result of a finished stage; None if there is no readable one."""
    try:
        with safe_open(path, "pt") as content:
            result = StageResult(**loads(content.metadata()["result"]))
            return {name: content.get_tensor(name) for name in content.keys()}, result  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, KeyError, ValueError):
        return None

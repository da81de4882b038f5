"""A finished stage on disk: one file of weights that says what it was learnt from."""

import os
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
from matchwork.files import atomic_write, user_cache
from matchwork.models import Stage, Texts
from matchwork.version import VERSION

CACHE_VARIABLE = "MATCHWORK_STAGE_CACHE"
_LATER = ("trainable", "cross_encode")  # settings of an encoder that hold only after the stages


def stage_cache() -> Path:
    """Where runs leave finished stages for each other: the user's cache, or what is asked for."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache() / "stages"


@dataclass(frozen=True)
class StageResult:
    """How a stage went: one record per epoch, and which epoch was kept.

    `best_loss` is that on dev, None where there is no dev. `reused`: learnt by another run.
    """

    name: str
    hash: str
    best_epoch: int
    best_loss: float | None
    history: list[dict[str, float]]
    seconds: float
    reused: bool = False

    def to_json(self) -> dict[str, Any]:
        """What a result keeps of it."""
        kept = {key: value for key, value in asdict(self).items() if key != "history"}
        return {**kept, "epochs": len(self.history)}


def state_of(module: nn.Module, within: nn.Module | None = None) -> dict[str, Tensor]:
    """Weights and buffers, each with memory of its own on the CPU; of `within`, if given."""
    state = module.state_dict(keep_vars=True)
    if within is not None:
        known = {id(tensor) for tensor in within.state_dict(keep_vars=True).values()}
        state = {name: tensor for name, tensor in state.items() if id(tensor) in known}
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items()}


def run_hash(encoder: Encoder, precision: str, seed: int) -> str:
    """Identity of what all stages of a run share beside texts."""
    digest = blake2b(digest_size=16)
    config = {key: value for key, value in to_table(encoder.config).items() if key not in _LATER}
    # Another release may train otherwise.
    digest.update(dumps([VERSION, encoder.kind, config, precision, seed]).encode())
    _add_state(digest, encoder)
    return digest.hexdigest()


def stage_hash(
    stage: Stage, shared: str, splits: Sequence[Texts], earlier: Sequence[StageResult]
) -> str:
    """Identity of a stage that has not begun: what is equal here ends with equal weights."""
    digest = blake2b(digest_size=16)
    used = [each.hash for each in earlier if stage.after is None or each.name in stage.after]
    settings = [stage.name, to_table(stage.config), dict(stage.reads), repr(stage.module)]
    digest.update(dumps([*settings, shared, len(splits), used], sort_keys=True).encode())
    _add_state(digest, stage.module)
    for split in splits:
        sides = {"query": split.queries, "document": split.documents}
        for table in (sides[side] for side in stage.sides):
            digest.update(table.starts.tobytes())
            digest.update(table.flat.tobytes())
    return digest.hexdigest()


def _add_state(digest: blake2b, module: nn.Module) -> None:
    for name, tensor in module.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())


def save_stage(path: Path, weights: dict[str, Tensor], result: StageResult) -> None:
    """Write a finished stage, whole or not at all."""
    with atomic_write(path, "wb") as stream:
        stream.write(to_safetensors(weights, {"result": dumps(asdict(result))}))


def load_stage(path: Path) -> tuple[dict[str, Tensor], StageResult] | None:
    """Weights and result of a finished stage; None where there is none that can be read."""
    try:
        with safe_open(path, "pt") as content:
            result = StageResult(**loads(content.metadata()["result"]))
            return {name: content.get_tensor(name) for name in content.keys()}, result  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, KeyError, ValueError):
        return None

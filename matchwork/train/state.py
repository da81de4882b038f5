"""Where a training run stands, and how that is kept on disk."""

import csv
import io
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from matchwork.errors import ConfigError, FolderError
from matchwork.files import atomic_write, write_text
from matchwork.models import StageConfig
from matchwork.train.config import TrainConfig

LAST, BEST, HISTORY = "last.ckpt", "best.safetensors", "history.csv"


@dataclass
class TrainState:
    """Position, running loss and what has been best on dev; grows by one record per epoch.

    `dev_loss` are pairs: after how many batches, and the loss on dev there.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best_value: float | None = None
    best_epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    dev_loss: list[list[float]] = field(default_factory=list)

    def position(self) -> tuple[int, int]:
        """The epoch under way and how many of its batches are done."""
        return self.epoch, self.batch

    def finished(self, config: TrainConfig | StageConfig) -> bool:
        """Whether all epochs are done, or dev has not improved for too long."""
        waited = self.epoch - self.best_epoch
        tired = config.patience is not None and waited >= config.patience
        return self.epoch >= config.max_epochs or (self.epoch > 0 and tired)


def save_checkpoint(
    folder: Path,
    state: TrainState,
    tensors: dict[str, Any],
    fingerprint: str,
) -> None:
    """Write everything needed to go on, in one file that is whole or absent."""
    with atomic_write(folder / LAST, "wb") as stream:
        try:
            torch.save({"fingerprint": fingerprint, "state": asdict(state), **tensors}, stream)
        except RuntimeError as error:  # what PyTorch makes of a full disk
            raise OSError(f"the checkpoint cannot be saved ({error})") from error


def drop_checkpoint(folder: Path) -> None:
    """Remove what a finished run no longer needs: several times the size of its weights."""
    for name in (LAST, BEST):
        (folder / name).unlink(missing_ok=True)


def load_checkpoint(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """The last checkpoint, None when there is none yet; only plain tensors are read."""
    path = folder / LAST
    if not path.exists():
        return None
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:
        raise FolderError(
            f"{path}: the checkpoint cannot be read ({error}); delete it to start again"
        ) from error
    if content.get("fingerprint") != fingerprint:
        raise ConfigError(
            f"{path} belongs to other settings or data; resume with the recipe that began the "
            "run, or choose another --out"
        )
    return content


def save_history(folder: Path, history: list[dict[str, float]]) -> None:
    """Write one line per epoch."""
    stream = io.StringIO()
    names = list(dict.fromkeys(name for record in history for name in record))
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(history)
    write_text(folder / HISTORY, stream.getvalue())


def load_best(folder: Path) -> dict[str, Tensor]:
    """The weights of the best epoch."""
    path = folder / BEST
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise FolderError(
            f"{path}: the best weights cannot be read ({error}); delete {folder} to start again"
        ) from error

"""The state of a training run or stage, and its files: checkpoint, best weights, history, logs."""

import csv
import importlib.util
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from json import dumps
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn

from matchwork.errors import ConfigError, FolderError, TrainingError
from matchwork.files import atomic_write, write_text
from matchwork.models import StageConfig
from matchwork.train.config import TrainConfig

LAST, BEST, HISTORY = "last.ckpt", "best.safetensors", "history.csv"
LOG_EVERY = 20  # steps


@dataclass
class TrainState:
    """Progress of a run: what is done (`batch` is of the current epoch), losses and dev values."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best_value: float | None = None
    best_epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    dev_loss: list[list[float]] = field(default_factory=list)

    def position(self) -> tuple[int, int]:
        """Return the epoch under way and the number of its batches that are done."""
        return self.epoch, self.batch

    def finished(self, config: TrainConfig | StageConfig) -> bool:
        """Return whether all epochs are done or dev has not improved within `patience` epochs."""
        waited = self.epoch - self.best_epoch
        out_of_patience = config.patience is not None and waited >= config.patience
        return self.epoch >= config.max_epochs or (self.epoch > 0 and out_of_patience)

    def end_batch(self) -> dict[str, float] | None:
        """Count a batch; return what is logged after it, if anything is."""
        self.batch += 1
        self.step += 1
        return None if self.step % LOG_EVERY else {"loss": self.loss_sum / self.batch}

    def end_epoch(
        self, measured: Mapping[str, float], value: float | None, improved: bool, seconds: float
    ) -> dict[str, float]:
        """Add a record to the history and begin the next epoch; `value` is its dev value."""
        if improved:
            self.best_value, self.best_epoch = value, self.epoch + 1
        record = {
            "epoch": self.epoch + 1,
            "loss": self.loss_sum / max(1, self.batch),
            **measured,
            "best": float(improved),
            "seconds": round(seconds, 3),
        }
        self.history.append(record)
        self.epoch, self.batch, self.loss_sum = self.epoch + 1, 0, 0.0
        return record

    def not_finite(self, problem: str, step: int | None = None) -> TrainingError:
        """Return the error for numbers that are not finite after `step` (default: all) steps."""
        where = f"step {step or self.step} (epoch {self.epoch + 1})"
        return TrainingError(
            f"{problem} at {where}; training stopped and the last good checkpoint was kept. "
            "Lower the learning rate, set clip_norm, or check the input vectors."
        )

    def require_finite(self, module: nn.Module, folder: Path) -> None:
        """Raise a `TrainingError` if a trained parameter is not finite."""
        for name, parameter in module.named_parameters():
            if parameter.requires_grad and not bool(torch.isfinite(parameter).all()):
                last = folder / LAST
                raise self.not_finite(
                    f"parameter {name!r} is no longer finite (checkpoint: {last})"
                )


def fingerprint(values: list[Any], *data: bytes) -> str:
    """Return a hash of JSON values and data, which identifies a run or stage."""
    digest = blake2b(dumps(values, sort_keys=True).encode(), digest_size=16)
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def save_checkpoint(
    folder: Path, state: TrainState, tensors: dict[str, Any], fingerprint: str
) -> None:
    """Write everything needed to resume, in one file that is either complete or absent."""
    with atomic_write(folder / LAST, "wb") as stream:
        try:
            torch.save({"fingerprint": fingerprint, "state": asdict(state), **tensors}, stream)
        except RuntimeError as error:  # PyTorch raises it for a full disk
            raise OSError(f"the checkpoint cannot be saved ({error})") from error


def drop_checkpoint(folder: Path) -> None:
    """Remove the checkpoint of a finished run, which is several times the size of its weights."""
    for name in (LAST, BEST):
        (folder / name).unlink(missing_ok=True)


def load_checkpoint(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the last checkpoint, or None; only plain tensors are unpickled."""
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


def state_of(module: nn.Module, within: nn.Module | None = None) -> dict[str, Tensor]:
    """Return copies of weights and buffers on the CPU; if given, only those `within` has too."""
    state = module.state_dict(keep_vars=True)
    if within is not None:
        shared = {id(tensor) for tensor in within.state_dict(keep_vars=True).values()}
        state = {name: tensor for name, tensor in state.items() if id(tensor) in shared}
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items()}


def save_best(folder: Path, weights: dict[str, Tensor]) -> None:
    """Write the weights of the best epoch."""
    with atomic_write(folder / BEST, "wb") as stream:
        stream.write(to_safetensors(weights))


def load_best(folder: Path) -> dict[str, Tensor]:
    """Return the weights of the best epoch."""
    path = folder / BEST
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise FolderError(
            f"{path}: the best weights cannot be read ({error}); delete {folder} to start again"
        ) from error


def save_history(folder: Path, history: list[dict[str, float]]) -> None:
    """Write the history as CSV, one line per epoch."""
    stream = io.StringIO()
    names = list(dict.fromkeys(name for record in history for name in record))
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(history)
    write_text(folder / HISTORY, stream.getvalue())


def make_loggers(folder: Path) -> list[Logger]:
    """Return loggers that write CSV to `logs` and, if it is installed, TensorBoard's files."""
    loggers: list[Logger] = [CSVLogger(folder, name="logs")]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(folder, name="tensorboard"))
    return loggers

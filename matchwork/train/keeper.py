"""What is kept of a training run: the best weights, the history, and checkpoints to go on from."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import lightning.pytorch as pl
import torch
from safetensors.torch import save as to_safetensors
from torch import Tensor

from matchwork.errors import ConfigError, DataError, TrainingError
from matchwork.evaluate import gain
from matchwork.files import atomic_write
from matchwork.models import Model
from matchwork.quiet import silence_lightning
from matchwork.train.config import TrainConfig
from matchwork.train.dev_loss import DevLoss
from matchwork.train.loggers import LOG_EVERY
from matchwork.train.module import not_finite, trained_tensors
from matchwork.train.result import TrainObserver
from matchwork.train.state import BEST, LAST, TrainState, save_checkpoint, save_history

Validate: TypeAlias = Callable[[Model], Mapping[str, float]]
_WORK_PER_SAVING = 10  # seconds of training that are worth one of saving


class Keeper(pl.callbacks.Checkpoint):
    """Measures on dev after every epoch, keeps the best weights, checkpoints, stops early."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        fingerprint: str,
        validate: Validate | None,
        observer: TrainObserver | None,
        dev_loss: DevLoss | None,
    ) -> None:
        self.folder = folder
        self.config = config
        self.fingerprint = fingerprint
        self.validate = validate
        self.observer = observer
        self.dev_loss = dev_loss
        self._epoch_began = self._saved_at = time.monotonic()
        self._saving = 0.0  # seconds that the last checkpoint took
        self._best: dict[str, Tensor] | None = None  # not yet written

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        silence_lightning()  # unpickled: in a process of its own, where it speaks up again

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._epoch_began = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Count, log, and checkpoint when the last one is old."""
        state: TrainState = pl_module.state
        state.batch += 1
        state.step += 1
        if state.step % LOG_EVERY == 0:
            self._log(trainer, {"loss": state.loss_sum / state.batch}, state.step)
        if self.dev_loss and state.step % self.config.dev_loss_every == 0:
            self._measure_dev_loss(trainer, pl_module, self.dev_loss)
        if time.monotonic() - self._saved_at >= self.config.checkpoint_seconds:
            self._require_finite(pl_module)
            self._checkpoint(trainer, pl_module)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Dev measure, history, checkpoint; in this order."""
        state: TrainState = pl_module.state
        self._require_finite(pl_module)
        record: dict[str, float] = {
            "epoch": state.epoch + 1,
            "loss": state.loss_sum / max(1, state.batch),
        }
        record |= self._measure(trainer, pl_module)
        value = record.get(self.config.dev_measure)
        best, measure = state.best_value, self.config.dev_measure
        improved = value is None or best is None or gain(measure, value - best) > 0
        if improved:
            state.best_value, state.best_epoch = value, state.epoch + 1
        record["best"] = float(improved)
        record["seconds"] = round(time.monotonic() - self._epoch_began, 3)
        state.history.append(record)
        state.epoch, state.batch, state.loss_sum = state.epoch + 1, 0, 0.0
        if trainer.is_global_zero:
            if improved:
                kept = trained_tensors(pl_module.model)
                self._best = {name: tensor.clone() for name, tensor in kept.items()}
            save_history(self.folder, state.history)
        self._log(trainer, record, state.step)
        trainer.should_stop = state.finished(self.config)
        if trainer.should_stop or self._is_worth_saving():
            self._checkpoint(trainer, pl_module)
        if self.observer and trainer.is_global_zero:
            self.observer.epoch(record)

    def _measure(self, trainer: pl.Trainer, pl_module: Any) -> dict[str, float]:
        if self.validate is None:
            return {}
        measured: dict[str, float] = {}
        if trainer.is_global_zero:
            try:
                measured = dict(self.validate(pl_module.model))
            except DataError as error:  # weights can be finite and scores overflow
                state: TrainState = pl_module.state
                where = f"step {state.step} (epoch {state.epoch + 1})"
                raise TrainingError(f"dev cannot be measured after {where}: {error}") from error
            if self.config.dev_measure not in measured:
                raise ConfigError(
                    f"dev_measure is {self.config.dev_measure!r}, but measured on dev were "
                    f"{', '.join(measured) or 'none'}"
                )
        return dict(trainer.strategy.broadcast(measured))

    def _measure_dev_loss(self, trainer: pl.Trainer, pl_module: Any, dev_loss: DevLoss) -> None:
        state: TrainState = pl_module.state
        if trainer.is_global_zero:
            value = dev_loss(pl_module.model, pl_module.loss_of)
            if not math.isfinite(value):
                what = f"the loss on dev is {value}"
                raise TrainingError(not_finite(what, state.step, state.epoch + 1))
            state.dev_loss.append([state.step, value])
            self._log(trainer, {"dev_loss": value}, state.step)

    def _is_worth_saving(self) -> bool:
        """Not when short epochs of a large model would spend their time on writing gigabytes."""
        since = time.monotonic() - self._saved_at
        return since >= min(self.config.checkpoint_seconds, _WORK_PER_SAVING * self._saving)

    def _checkpoint(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Write the best weights, then the state that knows of them."""
        began = time.monotonic()
        if self._best is not None:
            with atomic_write(self.folder / BEST, "wb") as stream:
                stream.write(to_safetensors(self._best))
            self._best = None
        if trainer.is_global_zero:
            tensors = pl_module.checkpoint_tensors()
            save_checkpoint(self.folder, pl_module.state, tensors, self.fingerprint)
        self._saved_at = time.monotonic()
        self._saving = self._saved_at - began

    def _require_finite(self, pl_module: Any) -> None:
        for name, parameter in pl_module.model.named_parameters():
            if parameter.requires_grad and not bool(torch.isfinite(parameter).all()):
                state: TrainState = pl_module.state
                kept = self.folder / LAST
                what = f"parameter {name!r} is no longer finite (checkpoint: {kept})"
                raise TrainingError(not_finite(what, state.step, state.epoch + 1))

    def _log(self, trainer: pl.Trainer, record: Mapping[str, float], step: int) -> None:
        for logger in trainer.loggers:
            logger.log_metrics(dict(record), step=step)

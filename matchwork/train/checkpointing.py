"""The Lightning callback that measures on dev, writes checkpoints and stops early."""

import math
import time
from collections.abc import Mapping
from typing import Any

import lightning.pytorch as pl
import torch
from safetensors.torch import save as to_safetensors
from torch import Tensor

from matchwork.errors import ConfigError, DataError, TrainingError
from matchwork.evaluate import gain
from matchwork.files import atomic_write
from matchwork.quiet import silence_lightning
from matchwork.train.loggers import LOG_EVERY
from matchwork.train.module import trained_tensors
from matchwork.train.state import (
    BEST,
    LAST,
    TrainingRun,
    TrainState,
    not_finite,
    save_checkpoint,
    save_history,
)
from matchwork.train.validation import DevLoss

_WORK_PER_SAVE = 10  # seconds of training for each second of saving


class Checkpointing(pl.callbacks.Checkpoint):
    """Measures on dev after every epoch, saves the best weights and checkpoints, stops early.

    `fingerprint` identifies the run in its checkpoints.
    """

    def __init__(self, run: TrainingRun, fingerprint: str, dev_loss: DevLoss | None) -> None:
        self.run, self.config, self.folder = run, run.config, run.folder
        self.fingerprint = fingerprint
        self.dev_loss = dev_loss
        self._epoch_began = self._saved_at = time.monotonic()
        self._save_seconds = 0.0
        self._unsaved_best: dict[str, Tensor] | None = None

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        silence_lightning()  # unpickled, so in another process, where Lightning logs again

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Note the time."""
        self._epoch_began = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Count and log the batch, and write a checkpoint if the last one is old."""
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
        """Measure on dev, then write the history, then a checkpoint."""
        state: TrainState = pl_module.state
        self._require_finite(pl_module)
        measured = self._measure(trainer, pl_module)
        best, measure = state.best_value, self.config.dev_measure
        value = measured.get(measure)
        improved = value is None or best is None or gain(measure, value - best) > 0
        seconds = time.monotonic() - self._epoch_began
        record = state.end_epoch(measured, value, improved, seconds)
        if trainer.is_global_zero:
            if improved:
                tensors = trained_tensors(pl_module.model)
                self._unsaved_best = {name: tensor.clone() for name, tensor in tensors.items()}
            save_history(self.folder, state.history)
        self._log(trainer, record, state.step)
        trainer.should_stop = state.finished(self.config)
        if trainer.should_stop or self._is_worth_saving():
            self._checkpoint(trainer, pl_module)
        if trainer.is_global_zero:
            self.run.observer.epoch(record)

    def _measure(self, trainer: pl.Trainer, pl_module: Any) -> dict[str, float]:
        if self.run.validate is None:
            return {}
        measured: dict[str, float] = {}
        if trainer.is_global_zero:
            try:
                measured = dict(self.run.validate(pl_module.model))
            except DataError as error:  # finite weights can still give scores that overflow
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
            value = dev_loss(pl_module.model, pl_module.batch_loss)
            if not math.isfinite(value):
                problem = f"the loss on dev is {value}"
                raise TrainingError(not_finite(problem, state.step, state.epoch + 1))
            state.dev_loss.append([state.step, value])
            self._log(trainer, {"dev_loss": value}, state.step)

    def _is_worth_saving(self) -> bool:
        """Return False if short epochs of a large model would mostly write checkpoints."""
        since = time.monotonic() - self._saved_at
        return since >= min(self.config.checkpoint_seconds, _WORK_PER_SAVE * self._save_seconds)

    def _checkpoint(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Write the best weights, then the state that refers to them."""
        began = time.monotonic()
        if self._unsaved_best is not None:
            with atomic_write(self.folder / BEST, "wb") as stream:
                stream.write(to_safetensors(self._unsaved_best))
            self._unsaved_best = None
        if trainer.is_global_zero:
            tensors = pl_module.checkpoint_tensors()
            save_checkpoint(self.folder, pl_module.state, tensors, self.fingerprint)
        self._saved_at = time.monotonic()
        self._save_seconds = self._saved_at - began

    def _require_finite(self, pl_module: Any) -> None:
        for name, parameter in pl_module.model.named_parameters():
            if parameter.requires_grad and not bool(torch.isfinite(parameter).all()):
                state: TrainState = pl_module.state
                last = self.folder / LAST
                problem = f"parameter {name!r} is no longer finite (checkpoint: {last})"
                raise TrainingError(not_finite(problem, state.step, state.epoch + 1))

    def _log(self, trainer: pl.Trainer, record: Mapping[str, float], step: int) -> None:
        for logger in trainer.loggers:
            logger.log_metrics(dict(record), step=step)

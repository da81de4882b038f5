"""The Lightning side of training: one step, and what is kept after it."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import lightning.pytorch as pl
import numpy as np
import torch
from safetensors.torch import save as to_safetensors
from torch import Tensor

from matchwork.errors import ConfigError, DataError, TrainingError
from matchwork.evaluate import gain
from matchwork.files import write_beside
from matchwork.interact import masked_mean
from matchwork.models import MatchModel, MatchOutput
from matchwork.text import PairBatch
from matchwork.train.config import TrainConfig
from matchwork.train.dev_loss import DevLoss
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.loggers import LOG_EVERY
from matchwork.train.losses import LOSSES, class_cross_entropy, require_class_loss
from matchwork.train.optimizer import make_optimizer, set_rates
from matchwork.train.quiet import silence_lightning
from matchwork.train.samples import TrainingSet
from matchwork.train.sampling import SAMPLERS, Sampler
from matchwork.train.state import BEST, LAST, TrainState, save_checkpoint, save_history

Validate: TypeAlias = Callable[[MatchModel], Mapping[str, float]]
OnEpoch: TypeAlias = Callable[[Mapping[str, float]], None]


def trained_tensors(model: MatchModel) -> dict[str, Tensor]:
    """The state without what training never changes (frozen word vectors are large)."""
    frozen = model.frozen_names()
    return {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in frozen
    }


def _at_least_32_bits(scores: Tensor) -> Tensor:
    """Losses subtract scores, for which 16 bits are too few."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


class TrainingModule(pl.LightningModule):
    """Scores groups of pairs and asks the loss."""

    def __init__(
        self,
        model: MatchModel,
        samples: TrainingSet,
        config: TrainConfig,
        seed: int,
        checkpoint: dict[str, Any] | None,
    ) -> None:
        super().__init__()
        self.model = model
        self.samples = samples
        self.settings = config
        self.seed = seed
        self.state = TrainState(**checkpoint["state"]) if checkpoint else TrainState()
        self._resume = checkpoint
        require_class_loss(config, model.config.num_classes)
        self._loss = LOSSES[config.loss](config)
        self._sampler: Sampler = SAMPLERS[config.negatives](samples, config)

    def train_dataloader(self) -> EpochLoader:
        """Batches of the current epoch, shared out between the devices."""
        return EpochLoader(
            self.samples,
            self._sampler,
            batch_size=self.settings.batch_size,
            seed=self.seed,
            in_batch=self.settings.negatives == "in-batch",
            position=self.state.position,
            rank=self.trainer.global_rank,
            num_ranks=self.trainer.world_size,
        )

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimiser, where it left off when resuming."""
        optimizer = make_optimizer(self.model, self.settings)
        if self._resume:
            self.model.load_state_dict(self._resume["model"], strict=False)
            optimizer.load_state_dict(self._resume["optimizer"])
        return optimizer

    def on_train_start(self) -> None:
        """The loss scale of 16-bit training goes on where it stopped."""
        if self._resume:
            if self._resume["precision"]:
                self.trainer.precision_plugin.load_state_dict(self._resume["precision"])
            self._resume = None

    def on_train_batch_start(self, batch: TrainBatch, batch_idx: int) -> None:
        """Random numbers of a step (dropout) follow from (seed, step, rank), as its batch does.

        So does its learning rate from the state, wherever a run was cut.
        """
        steps = int(self.trainer.num_training_batches) * self.settings.max_epochs
        set_rates(self.trainer.optimizers[0], self.settings, self.state, steps)
        source = np.random.SeedSequence([self.seed, self.state.step, self.global_rank])
        torch.manual_seed(int(source.generate_state(1, np.uint64)[0]))

    def transfer_batch_to_device(
        self, batch: TrainBatch, device: torch.device, dataloader_idx: int
    ) -> TrainBatch:
        """Ids, masks and labels to where the model is."""
        return batch.to(device)

    def training_step(self, batch: TrainBatch, batch_idx: int) -> Tensor:
        """Loss of one batch; a loss that is not finite stops training."""
        loss = self.loss_of(batch)
        value = float(loss.detach())
        if not math.isfinite(value):
            step, epoch = self.state.step + 1, self.state.epoch + 1
            raise TrainingError(not_finite(f"the loss is {value}", step, epoch))
        self.state.loss_sum += value
        self.log("loss", value, prog_bar=True, logger=False)
        return loss

    def loss_of(self, batch: TrainBatch) -> Tensor:
        """What training makes small, of a batch of either split."""
        if self.model.config.num_classes > 2:
            logits = self.model(batch.pairs).logits.unflatten(0, batch.labels.shape)
            return class_cross_entropy(_at_least_32_bits(logits), batch.labels, batch.mask)
        output = self._scored(batch.pairs)
        scores = output.scores.view_as(batch.labels)
        loss = self._loss(_at_least_32_bits(scores), batch.labels, batch.mask)
        if output.penalty is None:
            return loss
        positive = self.model.config.aux == "positive"
        counted = batch.mask & (batch.labels > 0) if positive else batch.mask
        return loss + masked_mean(output.penalty, counted.flatten())

    def _scored(self, pairs: PairBatch) -> MatchOutput:
        """Every pair, or with in-batch negatives every query with every document."""
        if self.settings.negatives != "in-batch":
            output: MatchOutput = self.model(pairs)
            return output
        query, document = self.model.encode(pairs.query), self.model.encode(pairs.document)
        if self.model.config.aux is None:
            return MatchOutput(self.model.match_all(query, document))
        return self.model.match(query.repeat_each(len(document)), document.tile(len(query)))

    def checkpoint_tensors(self) -> dict[str, Any]:
        """What a checkpoint holds beside the state."""
        return {
            "model": trained_tensors(self.model),
            "optimizer": self.trainer.optimizers[0].state_dict(),
            "precision": self.trainer.precision_plugin.state_dict(),
        }


def not_finite(what: str, step: int, epoch: int) -> str:
    """The message of a `TrainingError`."""
    return (
        f"{what} at step {step} (epoch {epoch}); training stopped and the last good checkpoint "
        "was kept. Lower the learning rate, set clip_norm, or check the input vectors."
    )


class Keeper(pl.callbacks.Checkpoint):
    """Measures on dev after every epoch, keeps the best weights, checkpoints, stops early."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        fingerprint: str,
        validate: Validate | None,
        on_epoch: OnEpoch | None,
        dev_loss: DevLoss | None,
    ) -> None:
        self.folder = folder
        self.config = config
        self.fingerprint = fingerprint
        self.validate = validate
        self.on_epoch = on_epoch
        self.dev_loss = dev_loss
        self._epoch_began = self._saved_at = time.monotonic()

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
        """Dev measure, best weights, history, checkpoint; in this order."""
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
                with write_beside(self.folder / BEST, "wb") as stream:
                    stream.write(to_safetensors(trained_tensors(pl_module.model)))
            save_history(self.folder, state.history)
        self._log(trainer, record, state.step)
        self._checkpoint(trainer, pl_module)
        if self.on_epoch and trainer.is_global_zero:
            self.on_epoch(record)
        trainer.should_stop = state.finished(self.config)

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

    def _checkpoint(self, trainer: pl.Trainer, pl_module: Any) -> None:
        if trainer.is_global_zero:
            tensors = pl_module.checkpoint_tensors()
            save_checkpoint(self.folder, pl_module.state, tensors, self.fingerprint)
        self._saved_at = time.monotonic()

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

"""The Lightning module: a training step, its optimizer, dev after an epoch, and checkpoints."""

import math
import time
from copy import deepcopy
from inspect import signature
from itertools import chain
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from matchwork.errors import ConfigError, DataError, TrainingError
from matchwork.evaluate import gain
from matchwork.interact import masked_mean
from matchwork.models import MatchOutput, Model, bi_encoded
from matchwork.quiet import silence_lightning
from matchwork.text import PairBatch
from matchwork.train.config import TrainConfig
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.losses import LOSSES
from matchwork.train.optimizers import OPTIMIZERS
from matchwork.train.run import TrainingRun
from matchwork.train.state import TrainState, save_best, save_checkpoint, save_history
from matchwork.train.validation import DevLoss

_BASE_RATE = "initial_lr"
_WORK_PER_SAVE = 10  # seconds of training for each second of saving


class TrainingModule(pl.LightningModule):
    """Trains a run's model, resumed from `checkpoint`, and writes the files of its folder."""

    def __init__(
        self,
        run: TrainingRun,
        fingerprint: str = "",
        checkpoint: dict[str, Any] | None = None,
        dev_loss: DevLoss | None = None,
    ) -> None:
        super().__init__()
        self.run, self.model, self.settings = run, run.model, run.config
        self.fingerprint, self.dev_loss = fingerprint, dev_loss
        self.state = TrainState(**checkpoint["state"]) if checkpoint else TrainState()
        self._resume = checkpoint
        self._epoch_began = self._saved_at = time.monotonic()
        self._save_seconds = 0.0
        self._unsaved_best: dict[str, Tensor] | None = None
        run.config.check_model(run.model.config.num_classes, bi_encoded(run.model))
        self._loss = run.config.make_loss()
        self._sampler = run.config.make_sampler(run.samples)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        silence_lightning()  # unpickled, so in another process, where Lightning logs again

    @torch.no_grad()
    def setup(self, stage: str) -> None:
        """Copy the weights in each of several processes; on a CPU they come in shared memory."""
        if self.trainer.world_size > 1:
            for tensor in chain(self.parameters(), self.buffers()):
                tensor.data = tensor.data.clone()
            self._resume = deepcopy(self._resume)

    def train_dataloader(self) -> EpochLoader:
        """Return the rest of the current epoch's batches for this device."""
        return EpochLoader(
            self.run.samples,
            self._sampler,
            batch_size=self.settings.batch_size,
            seed=self.run.seed,
            position=self.state.position,
            rank=self.trainer.global_rank,
            num_ranks=self.trainer.world_size,
        )

    def configure_optimizers(self) -> Optimizer:
        """Return the optimizer, with its checkpointed state when resuming."""
        optimizer = make_optimizer(self.model, self.settings)
        if self._resume:
            self.model.load_state_dict(self._resume["model"], strict=False)
            optimizer.load_state_dict(self._resume["optimizer"])
        return optimizer

    def on_train_start(self) -> None:
        """Restore the loss scale of 16-bit training when resuming."""
        if self._resume:
            if self._resume["precision"]:
                self.trainer.precision_plugin.load_state_dict(self._resume["precision"])
            self._resume = None

    def on_train_epoch_start(self) -> None:
        """Note the time."""
        self._epoch_began = time.monotonic()

    def on_train_batch_start(self, batch: TrainBatch, batch_idx: int) -> None:
        """Set rates and random numbers from seed, step and rank alone, so that a run can resume."""
        state = self.state
        num_steps = int(self.trainer.num_training_batches) * self.settings.max_epochs
        share = self.settings.learning_rate_share(
            step=state.step, epoch=state.epoch, num_steps=num_steps
        )
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = group[_BASE_RATE] * share
        source = np.random.SeedSequence([self.run.seed, state.step, self.global_rank])
        torch.manual_seed(int(source.generate_state(1, np.uint64)[0]))

    def configure_gradient_clipping(
        self,
        optimizer: Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip by norm; Lightning would not for a fused optimizer in bfloat16."""
        if gradient_clip_val is not None:
            groups = optimizer.param_groups
            parameters = [parameter for group in groups for parameter in group["params"]]
            torch.nn.utils.clip_grad_norm_(parameters, gradient_clip_val)

    def transfer_batch_to_device(
        self, batch: TrainBatch, device: torch.device, dataloader_idx: int
    ) -> TrainBatch:
        """Move a batch to the model's device."""
        return batch.to(device)

    def training_step(self, batch: TrainBatch, batch_idx: int) -> Tensor:
        """Return the loss of one batch; raise a `TrainingError` if it is not finite."""
        loss = self.batch_loss(batch)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise self.state.not_finite(f"the loss is {value}", self.state.step + 1)
        self.state.loss_sum += value
        self.log("loss", value, prog_bar=True, logger=False)
        return loss

    def batch_loss(self, batch: TrainBatch) -> Tensor:
        """Return the loss of a batch of training or dev pairs, with the model's penalty."""
        if self.model.config.num_classes > 2:
            class_loss = LOSSES[self.settings.loss].class_function
            assert class_loss is not None  # else check_model would have refused the loss
            logits = self.model(batch.pairs).logits.unflatten(0, batch.labels.shape)
            return class_loss(_at_least_32_bits(logits), batch.labels, batch.mask)
        output = self._score(batch.pairs)
        scores = output.scores.view_as(batch.labels)
        loss = self._loss(_at_least_32_bits(scores), batch.labels, batch.mask)
        if output.penalty is None:
            return loss
        positive_only = self.model.config.aux == "positive"
        counted = batch.mask & (batch.labels > 0) if positive_only else batch.mask
        return loss + masked_mean(output.penalty, counted.flatten())

    def _score(self, pairs: PairBatch) -> MatchOutput:
        """Score every pair or, with in-batch negatives, every query with every document."""
        model = self.model
        if not self.settings.in_batch or not bi_encoded(model):
            output: MatchOutput = model(pairs)
            return output
        query, document = model.encode(pairs.query), model.encode(pairs.document)
        if model.config.aux is None:
            return MatchOutput(model.match_all(query, document))
        return model.match(query.repeat_each(len(document)), document.tile(len(query)))

    def on_train_batch_end(self, outputs: Any, batch: TrainBatch, batch_idx: int) -> None:
        """Count and log the batch, and write a checkpoint if the last one is old."""
        state = self.state
        if record := state.end_batch():
            self._log(record)
        dev_loss = self.dev_loss if self.trainer.is_global_zero else None
        if dev_loss and state.step % self.settings.dev_loss_every == 0:
            value = dev_loss(self.model, self.batch_loss)
            if not math.isfinite(value):
                raise state.not_finite(f"the loss on dev is {value}")
            state.dev_loss.append([state.step, value])
            self._log({"dev_loss": value})
        if time.monotonic() - self._saved_at >= self.settings.checkpoint_seconds:
            state.require_finite(self.model, self.run.folder)
            self._checkpoint()

    def on_train_epoch_end(self) -> None:
        """Measure on dev, then write the history, then a checkpoint."""
        state, settings = self.state, self.settings
        state.require_finite(self.model, self.run.folder)
        measured = self._measure()
        best, value = state.best_value, measured.get(settings.dev_measure)
        improved = value is None or best is None or gain(settings.dev_measure, value - best) > 0
        record = state.end_epoch(measured, value, improved, time.monotonic() - self._epoch_began)
        if self.trainer.is_global_zero:
            if improved:
                tensors = trained_tensors(self.model)
                self._unsaved_best = {name: tensor.clone() for name, tensor in tensors.items()}
            save_history(self.run.folder, state.history)
        self._log(record)
        self.trainer.should_stop = state.finished(settings)
        # Short epochs of a large model would mostly write checkpoints.
        worth_it = min(settings.checkpoint_seconds, _WORK_PER_SAVE * self._save_seconds)
        if self.trainer.should_stop or time.monotonic() - self._saved_at >= worth_it:
            self._checkpoint()
        if self.trainer.is_global_zero:
            self.run.observer.epoch(record)

    def _measure(self) -> dict[str, float]:
        """Return the dev measures, which the first of several processes computes for all."""
        if self.run.validate is None:
            return {}
        measured: dict[str, float] = {}
        if self.trainer.is_global_zero:
            try:
                measured = dict(self.run.validate(self.model))
            except DataError as error:  # finite weights can still give scores that overflow
                where = f"step {self.state.step} (epoch {self.state.epoch + 1})"
                raise TrainingError(f"dev cannot be measured after {where}: {error}") from error
            if self.settings.dev_measure not in measured:
                raise ConfigError(
                    f"dev_measure is {self.settings.dev_measure!r}, but measured on dev were "
                    f"{', '.join(measured) or 'none'}"
                )
        return dict(self.trainer.strategy.broadcast(measured))

    def _checkpoint(self) -> None:
        """Write the best weights, then the state that refers to them."""
        began = time.monotonic()
        if self._unsaved_best is not None:
            save_best(self.run.folder, self._unsaved_best)
            self._unsaved_best = None
        if self.trainer.is_global_zero:
            tensors = {
                "model": trained_tensors(self.model),
                "optimizer": self.trainer.optimizers[0].state_dict(),
                "precision": self.trainer.precision_plugin.state_dict(),
            }
            save_checkpoint(self.run.folder, self.state, tensors, self.fingerprint)
        self._saved_at = time.monotonic()
        self._save_seconds = self._saved_at - began

    def _log(self, record: dict[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(record, step=self.state.step)


def trained_tensors(model: Model) -> dict[str, Tensor]:
    """Return the state without what training never changes (frozen word vectors are large)."""
    frozen = model.frozen_names()
    return {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in frozen
    }


def make_optimizer(model: Model, config: TrainConfig) -> Optimizer:
    """Return the optimizer over all trained parameters, in one group per learning rate."""
    encoder_rate, in_encoder = config.encoder_learning_rate, set(model.encoder.parameters())
    if encoder_rate is not None and not any(each.requires_grad for each in in_encoder):
        raise ConfigError(
            f"encoder_learning_rate = {encoder_rate} has no effect: the encoder is frozen; make "
            "it trainable or leave the rate out"
        )
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            rate = (encoder_rate if parameter in in_encoder else None) or config.learning_rate
            groups.setdefault(rate, []).append(parameter)
    make = OPTIMIZERS[config.optimizer]
    options = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
    if "fused" in signature(make).parameters:
        options["fused"] = can_fuse(config, next(model.parameters()).device)
    return make(
        [{"params": group, "lr": rate, _BASE_RATE: rate} for rate, group in groups.items()],
        **options,
    )


def can_fuse(config: TrainConfig, device: torch.device) -> bool:
    """Whether one kernel may update all parameters.

    With 16-bit floats a fused step undoes the loss scale itself, too late for clipping.
    """
    clips_scaled = config.clip_norm is not None and config.precision == "16-mixed"
    return device.type in ("cpu", "cuda") and not clips_scaled


def _at_least_32_bits(scores: Tensor) -> Tensor:
    """Return scores precise enough to be subtracted from each other."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))

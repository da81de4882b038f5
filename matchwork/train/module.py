"""The Lightning module: one training step, its optimizer and its learning rates."""

import math
from copy import deepcopy
from inspect import signature
from itertools import chain
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from matchwork.encode import Encoder
from matchwork.errors import ConfigError, TrainingError
from matchwork.interact import masked_mean
from matchwork.models import MatchOutput, Model, bi_encoded
from matchwork.text import PairBatch
from matchwork.train.config import TrainConfig
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.losses import LOSSES
from matchwork.train.optimizers import OPTIMIZERS
from matchwork.train.samples import TrainingSet
from matchwork.train.state import TrainState, not_finite

_BASE_RATE = "initial_lr"


class TrainingModule(pl.LightningModule):
    """Computes the loss of a batch and sets up the optimizer; resumes from `checkpoint`."""

    def __init__(
        self,
        model: Model,
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
        config.check_model(model.config.num_classes, bi_encoded(model))
        self._loss = config.make_loss()
        self._sampler = config.make_sampler(samples)

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
            self.samples,
            self._sampler,
            batch_size=self.settings.batch_size,
            seed=self.seed,
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

    def on_train_batch_start(self, batch: TrainBatch, batch_idx: int) -> None:
        """Set learning rates and random numbers (for dropout) from seed, step and rank alone.

        A resumed run therefore continues exactly as the uninterrupted one.
        """
        num_steps = int(self.trainer.num_training_batches) * self.settings.max_epochs
        set_rates(self.trainer.optimizers[0], self.settings, self.state, num_steps)
        source = np.random.SeedSequence([self.seed, self.state.step, self.global_rank])
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
            step, epoch = self.state.step + 1, self.state.epoch + 1
            raise TrainingError(not_finite(f"the loss is {value}", step, epoch))
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

    def checkpoint_tensors(self) -> dict[str, Any]:
        """Return what a checkpoint holds beside the state: weights, optimizer, loss scale."""
        return {
            "model": trained_tensors(self.model),
            "optimizer": self.trainer.optimizers[0].state_dict(),
            "precision": self.trainer.precision_plugin.state_dict(),
        }


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
    encoder_rates = _encoder_rates(model.encoder, config)
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            rate = encoder_rates.get(parameter, config.learning_rate)
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


def _encoder_rates(encoder: Encoder, config: TrainConfig) -> dict[nn.Parameter, float]:
    """Return the learning rate of every encoder parameter, if encoders have one of their own."""
    if config.encoder_learning_rate is None:
        return {}
    if not any(parameter.requires_grad for parameter in encoder.parameters()):
        raise ConfigError(
            f"encoder_learning_rate = {config.encoder_learning_rate} has no effect: the encoder "
            "is frozen; make it trainable or leave the rate out"
        )
    return dict.fromkeys(encoder.parameters(), config.encoder_learning_rate)


def set_rates(optimizer: Optimizer, config: TrainConfig, state: TrainState, num_steps: int) -> None:
    """Set the learning rates of the next step, which follow from `state` alone."""
    share = config.learning_rate_share(step=state.step, epoch=state.epoch, num_steps=num_steps)
    for group in optimizer.param_groups:
        group["lr"] = group[_BASE_RATE] * share


def _at_least_32_bits(scores: Tensor) -> Tensor:
    """Return scores precise enough to be subtracted from each other."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))

"""The Lightning side of training: one step."""

import math
from copy import deepcopy
from itertools import chain
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch import Tensor

from matchwork.errors import TrainingError
from matchwork.interact import masked_mean
from matchwork.models import MatchOutput, Model, bi_encoded
from matchwork.text import PairBatch
from matchwork.train.config import TrainConfig
from matchwork.train.loader import EpochLoader, TrainBatch
from matchwork.train.losses import LOSSES, class_cross_entropy, require_class_loss
from matchwork.train.optimizer import make_optimizer, set_rates
from matchwork.train.samples import TrainingSet
from matchwork.train.sampling import SAMPLERS, Sampler, require_apart
from matchwork.train.state import TrainState


def trained_tensors(model: Model) -> dict[str, Tensor]:
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
        require_class_loss(config, model.config.num_classes)
        require_apart(config, bi_encoded(model))
        self._loss = LOSSES[config.loss](config)
        self._sampler: Sampler = SAMPLERS[config.negatives](samples, config)

    @torch.no_grad()
    def setup(self, stage: str) -> None:
        """Weights of one of several processes are its own: on a CPU they come in shared memory."""
        if self.trainer.world_size > 1:
            for tensor in chain(self.parameters(), self.buffers()):
                tensor.data = tensor.data.clone()
            self._resume = deepcopy(self._resume)

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

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """By their norm. Lightning does so too, but not for fused steps in bfloat16."""
        if gradient_clip_val is not None:
            groups = optimizer.param_groups
            parameters = [parameter for group in groups for parameter in group["params"]]
            torch.nn.utils.clip_grad_norm_(parameters, gradient_clip_val)

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
        model = self.model
        if self.settings.negatives != "in-batch" or not bi_encoded(model):
            output: MatchOutput = model(pairs)
            return output
        query, document = model.encode(pairs.query), model.encode(pairs.document)
        if model.config.aux is None:
            return MatchOutput(model.match_all(query, document))
        return model.match(query.repeat_each(len(document)), document.tile(len(query)))

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

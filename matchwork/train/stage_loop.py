"""The training loop of one stage: epochs, dev, best weights, checkpoints."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from operator import length_hint
from pathlib import Path

import torch
from lightning.pytorch.loggers import Logger
from torch import nn

from matchwork.errors import TrainingError
from matchwork.files import remove_leftovers
from matchwork.models import Stage, StageBatch
from matchwork.quiet import quiet_lightning
from matchwork.train.optimizers import OPTIMIZERS
from matchwork.train.run import TrainingRun
from matchwork.train.state import (
    TrainState,
    load_best,
    load_checkpoint,
    make_loggers,
    save_best,
    save_checkpoint,
    save_history,
    state_of,
)

_HALF = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}


class StageLoop:
    """Trains the module of a stage on `device`, with the run's precision and `checkpoint_seconds`.

    Random numbers follow from seed, stage name and step alone, so that a resumed run ends exactly
    as an uninterrupted one.
    """

    def __init__(
        self, stage: Stage, run: TrainingRun, folder: Path, fingerprint: str, device: torch.device
    ) -> None:
        self.stage, self.texts, self.dev = stage, run.samples, run.dev_samples
        self.settings, self.seed, self.observer = run.config, run.seed, run.observer
        self.folder, self.fingerprint, self.device = folder, fingerprint, device
        self.state = TrainState()
        self.loggers: list[Logger] = []
        self._saved_at = time.monotonic()
        self._seed("prepare")
        stage.prepare(self.texts, self.seed)  # may give the module more parameters
        self.optimizer = OPTIMIZERS[stage.config.optimizer](
            stage.module.parameters(),
            lr=stage.config.learning_rate,
            weight_decay=stage.config.weight_decay,
        )
        scaled = self.settings.precision == "16-mixed"
        self.scaler = torch.amp.GradScaler(device.type, enabled=scaled)

    def run(self) -> TrainState:
        """Train from the start or the last checkpoint to the end, and load the best weights."""
        remove_leftovers(self.folder)
        checkpoint = load_checkpoint(self.folder, self.fingerprint)
        if checkpoint is not None:
            self.state = TrainState(**checkpoint["state"])
            self.stage.module.load_state_dict(checkpoint["model"])
            self.optimizer.load_state_dict(checkpoint["optimizer"])
            self.scaler.load_state_dict(checkpoint["precision"])
        if not self.state.finished(self.stage.config):
            with quiet_lightning():
                self.loggers = make_loggers(self.folder)
                try:
                    while not self.state.finished(self.stage.config):
                        self._epoch()
                except TrainingError as error:
                    raise TrainingError(f"stage {self.stage.name}: {error}") from error
                for logger in self.loggers:
                    logger.finalize("success")
        self.stage.module.load_state_dict(load_best(self.folder))
        self.stage.module.eval()
        self._seed("finish")
        with torch.no_grad():
            self.stage.finish(self.texts)
        return self.state

    def _epoch(self) -> None:
        state, began = self.state, time.monotonic()
        batches = self.stage.batches(self.texts, state.epoch, self.seed)
        total = length_hint(batches, 0)
        self.stage.module.train()
        config = self.stage.config
        halvings = state.epoch // config.halve_every if config.halve_every else 0
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * 0.5**halvings
        for batch in islice(batches, state.batch, None):
            self._step(batch)
            self.observer.stage_batch(state.batch, total)
            if time.monotonic() - self._saved_at >= self.settings.checkpoint_seconds:
                self._checkpoint()
        if not state.batch:
            raise TrainingError("the training texts give no batch")
        state.require_finite(self.stage.module, self.folder)
        measured = self._measure()
        loss = measured.get("dev_loss")
        improved = loss is None or state.best_value is None or loss < state.best_value
        if improved:
            save_best(self.folder, state_of(self.stage.module))
        record = state.end_epoch(measured, loss, improved, time.monotonic() - began)
        save_history(self.folder, state.history)
        self._log(record)
        self._checkpoint()
        self.observer.stage_epoch(self.stage.name, record)

    def _step(self, batch: StageBatch) -> None:
        state, clip_norm = self.state, self.stage.config.clip_norm
        self._seed(state.step)
        half = _HALF.get(self.settings.precision)
        with torch.autocast(self.device.type, half, enabled=half is not None):
            loss = self.stage.loss(batch.to(self.device))
        value = float(loss.detach())
        if not math.isfinite(value):
            raise state.not_finite(f"the loss is {value}", state.step + 1)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        if clip_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.stage.module.parameters(), clip_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        with torch.no_grad():
            self.stage.after_step()
        state.loss_sum += value
        if record := state.end_batch():
            self._log(record)

    def _measure(self) -> dict[str, float]:
        """Return the dev measures under names with `dev_`, always with the same random numbers."""
        if self.dev is None:
            return {}
        self.stage.module.eval()
        self._seed("measure")
        with torch.no_grad():
            measured = self.stage.measure(self.dev)
        if not math.isfinite(measured["loss"]):
            raise self.state.not_finite(f"the loss on dev is {measured['loss']}")
        return {f"dev_{name}": value for name, value in measured.items()}

    def _checkpoint(self) -> None:
        self.state.require_finite(self.stage.module, self.folder)
        tensors = {
            "model": state_of(self.stage.module),
            "optimizer": self.optimizer.state_dict(),
            "precision": self.scaler.state_dict(),
        }
        save_checkpoint(self.folder, self.state, tensors, self.fingerprint)
        self._saved_at = time.monotonic()

    def _log(self, record: dict[str, float]) -> None:
        for logger in self.loggers:
            logger.log_metrics(record, step=self.state.step)
            logger.save()

    def _seed(self, moment: object) -> None:
        text = f"{self.seed} {self.stage.name} {moment}"
        digest = blake2b(text.encode(), digest_size=8).digest()
        torch.manual_seed(int.from_bytes(digest, "little"))


@contextmanager
def training_only(module: nn.Module, model: nn.Module) -> Iterator[None]:
    """Let only `module` take gradients and be in training mode while the block runs."""
    parameters = {*model.parameters(), *module.parameters()}
    modules = {*model.modules(), *module.modules()}
    requires_grad = {parameter: parameter.requires_grad for parameter in parameters}
    modes = {part: part.training for part in modules}
    try:
        for parameter in parameters:
            parameter.requires_grad = False
        module.requires_grad_(True)
        model.eval()
        yield
    finally:
        for parameter, flag in requires_grad.items():
            parameter.requires_grad = flag
        for part, mode in modes.items():
            part.training = mode

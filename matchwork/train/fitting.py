"""Train a model: set up Lightning, run, and come back with the best weights."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from multiprocessing import get_all_start_methods, set_forkserver_preload
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import Callback, RichProgressBar
from lightning.pytorch.strategies import DDPStrategy
from torch.multiprocessing.spawn import ProcessRaisedException

from matchwork.config import to_table
from matchwork.errors import ConfigError, TrainingError
from matchwork.files import remove_leftovers, write_beside
from matchwork.models import Model
from matchwork.train.config import TrainConfig
from matchwork.train.dev_loss import DevLoss
from matchwork.train.keeper import Keeper, OnEpoch, Validate
from matchwork.train.loggers import LOG_EVERY, make_loggers
from matchwork.train.module import TrainingModule
from matchwork.train.quiet import quiet_lightning
from matchwork.train.samples import TrainingSet
from matchwork.train.settle import settle
from matchwork.train.stage_file import StageResult
from matchwork.train.stages import STAGES, StagePlan, run_stages
from matchwork.train.state import LAST, TrainState, load_best, load_checkpoint


@dataclass(frozen=True)
class FitResult:
    """How training went: one record per epoch, and which epoch was kept.

    `dev_loss` are pairs, batches done and loss on dev, where `dev_loss_every` asked for them.
    """

    history: list[dict[str, float]]
    best_epoch: int
    best_value: float | None
    dev_loss: list[list[float]] = field(default_factory=list)
    stages: list[StageResult] = field(default_factory=list)


def fit(
    model: Model,
    samples: TrainingSet,
    config: TrainConfig,
    *,
    seed: int = 0,
    validate: Validate | None = None,
    dev_samples: TrainingSet | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
    on_epoch: OnEpoch | None = None,
    stages: StagePlan | None = None,
) -> FitResult:
    """Train `model` in place and leave it with the weights that were best on dev.

    `folder` receives checkpoints, logs and history; with `resume` the run goes on from its
    last checkpoint. Without `validate` the last epoch counts as best. `dev_samples` are asked
    for by `dev_loss_every` and by stages. What the model wants to know of the training texts as
    a whole, it reads here; then its stages are trained, if it has any, on one device. Training
    on several devices happens in other processes: `on_epoch` then hears of all epochs at the end.
    """
    _check_dev(config, validate, dev_samples)
    if folder is None:
        if resume:
            raise ConfigError("resume needs the folder of the run that is to go on")
        with TemporaryDirectory(prefix="matchwork-") as temporary:
            return fit(
                model,
                samples,
                config,
                seed=seed,
                validate=validate,
                dev_samples=dev_samples,
                folder=temporary,
                progress=progress,
                on_epoch=on_epoch,
                stages=stages,
            )
    folder = Path(folder)
    if not resume and any((folder / name).exists() for name in (LAST, STAGES)):
        raise ConfigError(
            f"{folder} already holds a training run; continue it with --resume, or choose "
            "another folder"
        )
    _require_writable(folder)
    remove_leftovers(folder)
    model.fit_corpus((samples.queries, samples.documents))
    staged = run_stages(
        model,
        samples,
        dev_samples,
        stages or StagePlan(),
        config,
        seed=seed,
        folder=folder / STAGES,
    )
    fingerprint = _fingerprint(model, samples, config, seed, staged)
    checkpoint = load_checkpoint(folder, fingerprint) if resume else None
    began = TrainState(**checkpoint["state"]) if checkpoint else TrainState()
    if not began.finished(config):
        precision = next(model.parameters()).dtype
        module = TrainingModule(model, samples, config, seed, checkpoint)
        live = on_epoch if config.devices == 1 else None
        dev_loss = DevLoss(dev_samples, config) if dev_samples and config.dev_loss_every else None
        keeper = Keeper(folder, config, fingerprint, validate, live, dev_loss)
        with quiet_lightning():
            _run(_trainer(config, folder, keeper, progress), module)
        if config.precision == "64":
            model.to(precision)  # Lightning widened it; it comes back as it was
    final = load_checkpoint(folder, fingerprint)
    if final is None:
        raise TrainingError(f"training ended without a single finished epoch in {folder}")
    state = TrainState(**final["state"])
    if on_epoch and config.devices > 1:
        for record in state.history[len(began.history) :]:
            on_epoch(record)
    model.load_state_dict(load_best(folder), strict=False)
    settle(model, samples, use_gpu=config.accelerator != "cpu")
    return FitResult(state.history, state.best_epoch, state.best_value, state.dev_loss, staged)


def _check_dev(
    config: TrainConfig, validate: Validate | None, dev_samples: TrainingSet | None
) -> None:
    """Settings that look at dev need one."""
    if config.schedule == "halve" and validate is None:
        raise ConfigError(
            'schedule = "halve" follows the dev measure, and there is no dev split; '
            'use "linear" or "constant"'
        )
    if config.dev_loss_every and dev_samples is None:
        raise ConfigError(
            f"dev_loss_every = {config.dev_loss_every} needs a dev split; without, leave it out"
        )


def _run(trainer: pl.Trainer, module: TrainingModule) -> None:
    """Train; what other processes and Ctrl-C become in Lightning is turned back."""
    ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit(module)
    except SystemExit as error:
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, ctrl_c)  # Lightning has switched it off
        raise KeyboardInterrupt from None
    except ProcessRaisedException as error:
        _, _, reason = str(error).strip().splitlines()[-1].partition(": ")
        raise TrainingError(f"a training process failed: {reason}") from error


def _trainer(config: TrainConfig, folder: Path, keeper: Keeper, progress: bool) -> pl.Trainer:
    callbacks: list[Callback] = [keeper]
    if progress:
        callbacks.append(RichProgressBar())
    return pl.Trainer(
        accelerator=config.accelerator,
        devices=config.devices,
        strategy=_strategy(config),
        precision=config.precision,
        max_epochs=config.max_epochs,
        default_root_dir=folder,
        gradient_clip_val=config.clip_norm,
        logger=make_loggers(folder),
        callbacks=callbacks,
        enable_progress_bar=progress,
        enable_model_summary=False,
        log_every_n_steps=LOG_EVERY,
    )


def _strategy(config: TrainConfig) -> str | DDPStrategy:
    """One process for each of several devices.

    Those of a GPU are spawned: where CUDA is in use, none can be forked. Those of a CPU are forked
    from a server, since they then end at once. A spawned one takes its interpreter down while
    threads of gloo may still ask for it, which aborts it (issue 190489 of PyTorch).
    """
    if config.devices == 1:
        return "auto"
    on_gpu = config.accelerator != "cpu" and torch.cuda.is_available()
    if on_gpu or "forkserver" not in get_all_start_methods():
        return DDPStrategy(start_method="spawn")
    set_forkserver_preload([__name__])  # imported once, by the server
    return DDPStrategy(start_method="forkserver")


def _fingerprint(
    model: Model,
    samples: TrainingSet,
    config: TrainConfig,
    seed: int,
    stages: Sequence[StageResult],
) -> str:
    """Identity of a run: same settings, same data, same stages before it.

    More epochs are not another run, unless the learning rate is meant to end with them.
    """
    settings: dict[str, Any] = to_table(config)
    for free in ("max_epochs", "patience", "checkpoint_seconds"):
        if free != "max_epochs" or config.schedule != "linear":
            del settings[free]
    digest = blake2b(digest_size=16)
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    configs = [to_table(model.config), to_table(model.encoder.config)]
    digest.update(dumps([settings, seed, configs, shapes]).encode())
    for table in (samples.queries, samples.documents):
        digest.update(table.flat.tobytes())
        digest.update(table.starts.tobytes())
    for rows in (samples.query_rows, samples.document_rows, samples.labels):
        digest.update(rows.tobytes())
    for stage in stages:
        digest.update(stage.hash.encode())
    return digest.hexdigest()


def _require_writable(folder: Path) -> None:
    """Find out now, not after the first epoch."""
    with write_beside(folder / ".writable") as stream:
        stream.write("")
    (folder / ".writable").unlink()

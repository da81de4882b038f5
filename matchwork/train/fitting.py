"""Train a model with Lightning and leave it with its best weights."""

import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from hashlib import blake2b
from json import dumps
from multiprocessing import get_all_start_methods, set_forkserver_preload
from pathlib import Path
from tempfile import TemporaryDirectory

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import Callback, RichProgressBar
from lightning.pytorch.strategies import DDPStrategy
from torch.multiprocessing.spawn import ProcessRaisedException

from matchwork.config import to_table
from matchwork.errors import ConfigError, TrainingError
from matchwork.files import atomic_write, remove_leftovers
from matchwork.models import Model, StageConfig
from matchwork.quiet import quiet_lightning
from matchwork.train.checkpointing import Checkpointing
from matchwork.train.config import TrainConfig, keyword_only
from matchwork.train.feature_means import fit_feature_means
from matchwork.train.loggers import LOG_EVERY, make_loggers
from matchwork.train.module import TrainingModule
from matchwork.train.optimizers import SCHEDULES
from matchwork.train.result import TrainObserver, TrainResult
from matchwork.train.samples import TrainingSet
from matchwork.train.stages.files import StageResult
from matchwork.train.stages.run import STAGES, run_stages
from matchwork.train.state import (
    LAST,
    TrainingRun,
    TrainState,
    Validate,
    load_best,
    load_checkpoint,
)
from matchwork.train.validation import DevLoss


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
    show_progress: bool = False,
    observer: TrainObserver | None = None,
    stages: Mapping[str, StageConfig] | None = None,
    stage_cache: str | Path | None = None,
) -> TrainResult:
    """Train `model` in place and leave it with the weights of the best epoch.

    This is the part of `matchwork.train` between tokenising and calibrating; other arguments are
    described there.

    Args:
        samples: Tokenised training pairs.
        validate: Returns the dev measures of a model after each epoch; None: the last epoch
            counts as best.
        dev_samples: Tokenised dev pairs, for `dev_loss_every` and for stages.
    """
    if config.dev_loss_every and dev_samples is None:
        raise ConfigError(
            f"dev_loss_every = {config.dev_loss_every} needs a dev split; without one, leave it out"
        )
    if resume and folder is None:
        raise ConfigError("resume needs the folder of the run that is to be continued")
    began, observer = time.monotonic(), observer or TrainObserver()
    with nullcontext(folder) if folder else TemporaryDirectory(prefix="matchwork-") as path:
        run = TrainingRun(model, samples, config, seed, Path(path), observer, validate, dev_samples)
        _claim_folder(run.folder, resume)
        model.fit_corpus((samples.queries, samples.documents))
        staged = run_stages(run, stages or {}, Path(stage_cache) if stage_cache else None)
        state = _train_model(run, _fingerprint(run, staged), resume, show_progress)
        model.load_state_dict(load_best(run.folder), strict=False)
    fit_feature_means(model, samples, use_gpu=config.accelerator != "cpu")
    seconds = sum(stage.seconds for stage in staged if not stage.reused)
    seconds += sum(record["seconds"] for record in state.history)
    return TrainResult(
        state.history,
        state.best_epoch,
        state.best_value,
        config.dev_measure,
        seconds=max(seconds, time.monotonic() - began),
        truncation=samples.truncation,
        dev_loss=state.dev_loss,
        stages=staged,
        folder=None if folder is None else Path(folder),
    )


def _claim_folder(folder: Path, resume: bool) -> None:
    """Refuse a folder that is in use or cannot be written, before any work."""
    if not resume and any((folder / name).exists() for name in (LAST, STAGES)):
        raise ConfigError(
            f"{folder} already holds a training run; continue it with --resume, or choose "
            "another folder"
        )
    with atomic_write(folder / ".writable") as stream:
        stream.write("")
    (folder / ".writable").unlink()
    remove_leftovers(folder)


def _train_model(
    run: TrainingRun, fingerprint: str, resume: bool, show_progress: bool
) -> TrainState:
    """Train from the start or the last checkpoint to the end, and return the final state."""
    config, model = run.config, run.model
    checkpoint = load_checkpoint(run.folder, fingerprint) if resume else None
    began = TrainState(**checkpoint["state"]) if checkpoint else TrainState()
    if not began.finished(config):
        precision = next(model.parameters()).dtype
        module = TrainingModule(model, run.samples, config, run.seed, checkpoint)
        dev_loss = None
        if run.dev_samples is not None and config.dev_loss_every:
            dev_loss = DevLoss(run.dev_samples, config)
        # Other processes get no observer, which may not be picklable.
        alone = replace(run, observer=TrainObserver(), dev_samples=None)
        callback = Checkpointing(run if config.devices == 1 else alone, fingerprint, dev_loss)
        with quiet_lightning():
            _run(_trainer(config, run.folder, callback, show_progress), module)
        if config.precision == "64":
            model.to(precision)  # Lightning made it double
    final = load_checkpoint(run.folder, fingerprint)
    if final is None:
        raise TrainingError(f"training ended without a single finished epoch in {run.folder}")
    state = TrainState(**final["state"])
    if config.devices > 1:
        for record in state.history[len(began.history) :]:
            run.observer.epoch(record)
    return state


def _run(trainer: pl.Trainer, module: TrainingModule) -> None:
    """Train; turn errors of other processes and Ctrl-C back into what Lightning made them from."""
    ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit(module)
    except SystemExit as error:
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, ctrl_c)  # Lightning ignores it from now on
        raise KeyboardInterrupt from None
    except ProcessRaisedException as error:
        _, _, reason = str(error).strip().splitlines()[-1].partition(": ")
        raise TrainingError(f"a training process failed: {reason}") from error


def _trainer(
    config: TrainConfig, folder: Path, callback: Checkpointing, show_progress: bool
) -> pl.Trainer:
    callbacks: list[Callback] = [callback]
    if show_progress:
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
        enable_progress_bar=show_progress,
        enable_model_summary=False,
        log_every_n_steps=LOG_EVERY,
    )


def _strategy(config: TrainConfig) -> str | DDPStrategy:
    """Return the strategy for one process per device.

    On GPUs processes are spawned, since CUDA does not survive a fork. On a CPU they are forked
    from a server: a spawned process would shut down its interpreter while threads of gloo may
    still use it, and abort (PyTorch issue 190489).
    """
    if config.devices == 1:
        return "auto"
    on_gpu = config.accelerator != "cpu" and torch.cuda.is_available()
    if on_gpu or "forkserver" not in get_all_start_methods():
        return DDPStrategy(start_method="spawn")
    set_forkserver_preload([__name__])  # imported once, in the server
    return DDPStrategy(start_method="forkserver")


def _fingerprint(run: TrainingRun, stages: Sequence[StageResult]) -> str:
    """Return the identity of a run: its settings, data, seed and stages.

    A run with more epochs is the same run, unless the schedule depends on their number.
    """
    model, samples, settings = run.model, run.samples, to_table(run.config)
    del settings["patience"], settings["checkpoint_seconds"]
    if "num_steps" not in keyword_only(SCHEDULES[run.config.schedule]):
        del settings["max_epochs"]
    digest = blake2b(digest_size=16)
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    configs = [to_table(model.config), to_table(model.encoder.config)]
    digest.update(dumps([settings, run.seed, configs, shapes]).encode())
    for table in (samples.queries, samples.documents):
        digest.update(table.flat.tobytes())
        digest.update(table.starts.tobytes())
    for rows in (samples.query_rows, samples.document_rows, samples.labels):
        digest.update(rows.tobytes())
    for stage in stages:
        digest.update(stage.hash.encode())
    return digest.hexdigest()

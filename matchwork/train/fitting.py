"""Train a model with Lightning and leave it with its best weights."""

import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing import get_all_start_methods, set_forkserver_preload
from pathlib import Path

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import RichProgressBar
from lightning.pytorch.strategies import DDPStrategy
from torch.multiprocessing.spawn import ProcessRaisedException

from matchwork.config import to_table
from matchwork.errors import ConfigError, TrainingError
from matchwork.files import atomic_write, remove_leftovers
from matchwork.models import Model
from matchwork.quiet import quiet_lightning
from matchwork.text import PairBatch
from matchwork.train.config import TrainConfig, keyword_only
from matchwork.train.module import TrainingModule
from matchwork.train.optimizers import SCHEDULES
from matchwork.train.run import StageResult, TrainingRun, TrainObserver, TrainResult
from matchwork.train.samples import TrainingSet
from matchwork.train.stages import STAGES, run_stages
from matchwork.train.state import (
    LAST,
    LOG_EVERY,
    TrainState,
    fingerprint,
    load_best,
    load_checkpoint,
    make_loggers,
)
from matchwork.train.validation import DevLoss

MAX_MEANS_PAIRS = 500
_MEANS_BATCH_SIZE = 50


def fit(run: TrainingRun) -> TrainResult:
    """Train the model of a run in place and leave it with the weights of the best epoch."""
    model, samples, config = run.model, run.samples, run.config
    if config.dev_loss_every and run.dev_samples is None:
        raise ConfigError(
            f"dev_loss_every = {config.dev_loss_every} needs a dev split; without one, leave it out"
        )
    began = time.monotonic()
    _claim_folder(run.folder, run.resume)
    model.fit_corpus((samples.queries, samples.documents))
    stages = run_stages(run)
    state = _train_model(run, _fingerprint(run, stages))
    model.load_state_dict(load_best(run.folder), strict=False)
    fit_feature_means(model, samples, config.uses_gpu)
    seconds = sum(stage.seconds for stage in stages if not stage.reused)
    seconds += sum(record["seconds"] for record in state.history)
    return TrainResult(
        state.history,
        state.best_epoch,
        state.best_value,
        config.dev_measure,
        seconds=max(seconds, time.monotonic() - began),
        truncation=samples.truncation,
        dev_loss=state.dev_loss,
        stages=stages,
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


def _train_model(run: TrainingRun, identity: str) -> TrainState:
    """Train from the start or the last checkpoint to the end, and return the final state."""
    config, model = run.config, run.model
    checkpoint = load_checkpoint(run.folder, identity) if run.resume else None
    began = TrainState(**checkpoint["state"]) if checkpoint else TrainState()
    if not began.finished(config):
        precision = next(model.parameters()).dtype
        dev_loss = None
        if run.dev_samples is not None and config.dev_loss_every:
            dev_loss = DevLoss(run.dev_samples, config)
        # Other processes get no observer, which may not be picklable.
        alone = replace(run, observer=TrainObserver(), dev_samples=None)
        module = TrainingModule(
            run if config.devices == 1 else alone, identity, checkpoint, dev_loss
        )
        with quiet_lightning():
            _run(_trainer(run), module)
        if config.precision == "64":
            model.to(precision)  # Lightning made it double
    final = load_checkpoint(run.folder, identity)
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


def _trainer(run: TrainingRun) -> pl.Trainer:
    config = run.config
    return pl.Trainer(
        accelerator=config.accelerator,
        devices=config.devices,
        strategy=_strategy(config),
        precision=config.precision,
        max_epochs=config.max_epochs,
        default_root_dir=run.folder,
        gradient_clip_val=config.clip_norm,
        logger=make_loggers(run.folder),
        callbacks=[RichProgressBar()] if run.show_progress else [],
        enable_checkpointing=False,  # the module writes its own
        enable_progress_bar=run.show_progress,
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
    if config.uses_gpu or "forkserver" not in get_all_start_methods():
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
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    configs = [to_table(model.config), to_table(model.encoder.config)]
    hashes = [stage.hash for stage in stages]
    tables = samples.queries, samples.documents
    data = [array.tobytes() for table in tables for array in (table.flat, table.starts)]
    data += [samples.query_rows.tobytes(), samples.document_rows.tobytes()]
    data += [samples.labels.tobytes()]
    return fingerprint([settings, run.seed, configs, shapes, hashes], *data)


@torch.no_grad()
def fit_feature_means(model: Model, samples: TrainingSet, use_gpu: bool = False) -> None:
    """Let the model collect feature means for explanations, from up to `MAX_MEANS_PAIRS` pairs."""
    was_training, home = model.training, next(model.parameters()).device
    device = torch.device("cuda") if use_gpu else home
    num_pairs = len(samples.labels)
    rows = np.linspace(0, num_pairs - 1, min(num_pairs, MAX_MEANS_PAIRS)).astype(np.int64)

    def batches() -> Iterator[PairBatch]:
        for start in range(0, len(rows), _MEANS_BATCH_SIZE):
            chosen = rows[start : start + _MEANS_BATCH_SIZE]
            query = samples.queries.gather(samples.query_rows[chosen])
            document = samples.documents.gather(samples.document_rows[chosen])
            yield PairBatch(query, document).to(device)

    model.to(device).eval()
    try:
        model.fit_feature_means(batches())
    finally:
        model.to(home).train(was_training)

"""Train a model: set up Lightning, run, and come back with the best weights."""

import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import Callback, RichProgressBar
from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger
from safetensors.torch import load_file

from matchwork.config import to_table
from matchwork.errors import ConfigError, TrainingError
from matchwork.files import write_beside
from matchwork.models import MatchModel
from matchwork.train.config import TrainConfig
from matchwork.train.module import LOG_EVERY, Keeper, OnEpoch, TrainingModule, Validate
from matchwork.train.samples import TrainingSet
from matchwork.train.state import BEST, LAST, load_checkpoint


@dataclass(frozen=True)
class FitResult:
    """How training went: one record per epoch, and which epoch was kept."""

    history: list[dict[str, float]]
    best_epoch: int
    best_value: float | None


def fit(
    model: MatchModel,
    samples: TrainingSet,
    config: TrainConfig,
    *,
    seed: int = 0,
    validate: Validate | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
    on_epoch: OnEpoch | None = None,
) -> FitResult:
    """Train `model` in place and leave it with the weights that were best on dev.

    `folder` receives checkpoints, logs and history; with `resume` the run goes on from its
    last checkpoint. Without `validate` the last epoch counts as best.
    """
    if folder is None:
        with TemporaryDirectory(prefix="matchwork-") as temporary:
            return fit(
                model,
                samples,
                config,
                seed=seed,
                validate=validate,
                folder=temporary,
                progress=progress,
                on_epoch=on_epoch,
            )
    folder = Path(folder)
    fingerprint = _fingerprint(model, samples, config, seed)
    checkpoint = load_checkpoint(folder, fingerprint) if resume else None
    if not resume and (folder / LAST).exists():
        raise ConfigError(
            f"{folder} already holds a training run; continue it with --resume, or choose "
            "another folder"
        )
    _require_writable(folder)
    if not (checkpoint and checkpoint["state"]["finished"]):
        module = TrainingModule(model, samples, config, seed, checkpoint)
        keeper = Keeper(folder, config, fingerprint, validate, on_epoch)
        with _quiet_lightning():
            _trainer(config, folder, keeper, progress).fit(module)
    final = load_checkpoint(folder, fingerprint)
    if final is None:
        raise TrainingError(f"training ended without a single finished epoch in {folder}")
    state = final["state"]
    model.load_state_dict(load_file(folder / BEST), strict=False)
    return FitResult(state["history"], state["best_epoch"], state["best_value"])


def _trainer(config: TrainConfig, folder: Path, keeper: Keeper, progress: bool) -> pl.Trainer:
    loggers: list[Logger] = [CSVLogger(folder, name="logs")]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(folder, name="tensorboard"))
    callbacks: list[Callback] = [keeper]
    if progress:
        callbacks.append(RichProgressBar())
    several = {"strategy": "ddp_spawn"} if config.devices > 1 else {}
    return pl.Trainer(
        accelerator=config.accelerator,
        devices=config.devices,
        precision=config.precision,
        max_epochs=config.max_epochs,
        gradient_clip_val=config.clip_norm,
        logger=loggers,
        callbacks=callbacks,
        enable_progress_bar=progress,
        enable_model_summary=False,
        log_every_n_steps=LOG_EVERY,
        **several,  # type: ignore[arg-type]
    )


def _fingerprint(model: MatchModel, samples: TrainingSet, config: TrainConfig, seed: int) -> str:
    """Identity of a run: same settings, same data. More epochs are not another run."""
    settings: dict[str, Any] = asdict(config)
    for free in ("max_epochs", "patience", "checkpoint_seconds"):
        del settings[free]
    digest = blake2b(digest_size=16)
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    digest.update(dumps([settings, seed, to_table(model.config), shapes]).encode())
    for table in (samples.queries, samples.documents):
        digest.update(table.flat.tobytes())
        digest.update(table.starts.tobytes())
    for rows in (samples.query_rows, samples.document_rows, samples.labels):
        digest.update(rows.tobytes())
    return digest.hexdigest()


def _require_writable(folder: Path) -> None:
    """Find out now, not after the first epoch."""
    with write_beside(folder / ".writable") as stream:
        stream.write("")
    (folder / ".writable").unlink()


@contextmanager
def _quiet_lightning() -> Iterator[None]:
    """Lightning's hints about hardware and loaders are not for our users."""
    loggers = [
        logging.getLogger(name)
        for name in (
            "lightning.pytorch",
            "lightning.pytorch.utilities.rank_zero",
            "lightning.fabric",
        )
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

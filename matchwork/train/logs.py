"""Loggers of a training run, and Lightning's own messages suppressed."""

import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger

LOG_EVERY = 20  # steps
_LIGHTNING = ("lightning.pytorch", "lightning.pytorch.utilities.rank_zero", "lightning.fabric")


def make_loggers(folder: Path) -> list[Logger]:
    """Return loggers that write CSV to `logs` and, if it is installed, TensorBoard's files."""
    loggers: list[Logger] = [CSVLogger(folder, name="logs")]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(folder, name="tensorboard"))
    return loggers


def silence_lightning() -> None:
    """Suppress Lightning's warnings and hints for the rest of this process."""
    warnings.simplefilter("ignore")
    for name in _LIGHTNING:
        logging.getLogger(name).setLevel(logging.ERROR)


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Suppress Lightning's warnings and hints while the block runs."""
    levels = {name: logging.getLogger(name).level for name in _LIGHTNING}
    try:
        with warnings.catch_warnings():
            silence_lightning()
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

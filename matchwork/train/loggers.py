"""The loggers of a training run."""

import importlib.util
from pathlib import Path

from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger

LOG_EVERY = 20  # steps


def make_loggers(folder: Path) -> list[Logger]:
    """Return loggers that write CSV to `logs` and, if it is installed, TensorBoard's files."""
    loggers: list[Logger] = [CSVLogger(folder, name="logs")]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(folder, name="tensorboard"))
    return loggers

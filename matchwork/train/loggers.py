"""Where the numbers of training go while it runs."""

import importlib.util
from pathlib import Path

from lightning.pytorch.loggers import CSVLogger, Logger, TensorBoardLogger

LOG_EVERY = 20  # steps


def make_loggers(folder: Path) -> list[Logger]:
    """CSV files in `logs`, and TensorBoard's beside them if that is installed."""
    loggers: list[Logger] = [CSVLogger(folder, name="logs")]
    if importlib.util.find_spec("tensorboard"):
        loggers.append(TensorBoardLogger(folder, name="tensorboard"))
    return loggers

"""Lightning's hints about hardware and loaders are not for our users."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_NAMES = ("lightning.pytorch", "lightning.pytorch.utilities.rank_zero", "lightning.fabric")


def silence_lightning() -> None:
    """Let through errors only, for the rest of this process."""
    warnings.simplefilter("ignore")
    for name in _NAMES:
        logging.getLogger(name).setLevel(logging.ERROR)


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """The same for a while."""
    levels = {name: logging.getLogger(name).level for name in _NAMES}
    try:
        with warnings.catch_warnings():
            silence_lightning()
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

"""Suppress warnings and log messages of other libraries."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_lock = RLock()
_LIGHTNING = ("lightning.pytorch", "lightning.pytorch.utilities.rank_zero", "lightning.fabric")


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings. Holds a lock, because warning filters are process-wide."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def silence_lightning() -> None:
    """Suppress warnings, and all of Lightning's log messages but errors, in this process."""
    warnings.simplefilter("ignore")
    for name in _LIGHTNING:
        logging.getLogger(name).setLevel(logging.ERROR)


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Suppress warnings, and all of Lightning's log messages but errors, inside the block."""
    levels = {name: logging.getLogger(name).level for name in _LIGHTNING}
    try:
        with warnings.catch_warnings():
            silence_lightning()
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

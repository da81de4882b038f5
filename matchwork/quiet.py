"""Warnings of other libraries that are not for our users."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_alone = RLock()


@contextmanager
def without_warnings() -> Iterator[None]:
    """None are shown; one thread at a time, since what is shown is the whole process's choice."""
    with _alone, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

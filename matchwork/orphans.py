"""Processes that work for another one must not go on without it."""

from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread


def when_parent_ends(then: Callable[[], object]) -> None:
    """Call `then`, in a thread, once the process that made this one has ended, be it killed."""
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        then()

    Thread(target=watch, name="parent", daemon=True).start()

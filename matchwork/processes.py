"""Processes that work for another one: they share its cores and do not go on without it."""

import os
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread


def share_cores(number: int) -> None:
    """Give this process, one of so many, its part of the threads, unless the user has said."""
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(max(1, (os.cpu_count() or 1) // number))


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

"""Child processes: they share the machine's cores and end with their parent."""

import os
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread


def share_cores(number: int) -> None:
    """Limit this process to its share of threads, unless OMP_NUM_THREADS is set.

    Args:
        number: Number of processes that share the machine.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(max(1, (os.cpu_count() or 1) // number))


def when_parent_ends(then: Callable[[], object]) -> None:
    """Call a function, in a thread, when the parent process exits, including by SIGKILL.

    Args:
        then: The function; it is never called in a process without a parent.
    """
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        then()

    Thread(target=watch, name="parent", daemon=True).start()

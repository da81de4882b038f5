"""Child processes: they share the machine's cores and end with their parent."""

import os
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread


def share_cores(number: int) -> None:
    """Limit this process to the threads of one of `number`, unless OMP_NUM_THREADS is set."""
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(max(1, (os.cpu_count() or 1) // number))


def when_parent_ends(then: Callable[[], object]) -> None:
    """Call a function, in a thread, when the parent process (if any) exits, even by SIGKILL."""

    def watch(sentinel: int) -> None:
        wait([sentinel])
        then()

    if parent := parent_process():
        Thread(target=watch, args=[parent.sentinel], name="parent", daemon=True).start()

"""A thread pool over the cores that PyTorch may use."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(job: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Map `job` over items, with one single-threaded item per core.

    The alternative, all threads on one item, waits for the slowest thread after every operation,
    which takes long where other programs run too. It is used if there are fewer items than
    threads.
    """
    count = torch.get_num_threads()
    if count == 1 or len(items) < count:
        yield from map(job, items)
        return
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield from pool.map(job, items)
    finally:
        torch.set_num_threads(count)  # the pool's setting holds for this thread and later ones

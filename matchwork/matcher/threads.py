"""Work shared out among the threads that PyTorch may use."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(job: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`map(job, items)`, every thread at an item of its own.

    Otherwise all threads work on one item and wait for the slowest after every operation, which
    takes long where other programs run too. With fewer items than threads, they still do.
    """
    count = torch.get_num_threads()
    if count == 1 or len(items) < count:
        yield from map(job, items)
        return
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield from pool.map(job, items)
    finally:
        torch.set_num_threads(count)  # it holds for this thread, and for those to come

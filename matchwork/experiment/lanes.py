"""Processes of their own for seeds of many experiments: one that is killed loses only its seed."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from matchwork.experiment.side_by_side import processes, train_packed

Begin: TypeAlias = Callable[[Path, int, Path, bool], "Future[None]"]
"""Trains a seed of what `pack` wrote as soon as a process is free: parcel, seed, folder, resume."""


class NotBegun(Exception):
    """The process that a seed was waiting for has been killed; it may have another."""


@contextmanager
def lanes(jobs: int) -> Iterator[Begin]:
    """As many processes as `jobs`: a seed goes to the one for which fewest seeds wait."""
    with ExitStack() as stack:
        made = [_Lane(jobs, stack.enter_context(ExitStack())) for _ in range(jobs)]
        yield lambda *call: min(made, key=len).submit(*call)


class _Lane:
    """One process at a time, made anew in `place` after it was killed."""

    def __init__(self, jobs: int, place: ExitStack) -> None:
        self._jobs, self._place = jobs, place
        self._pool: ProcessPoolExecutor | None = None
        self._lost = False  # the seed that was under way when the process was killed
        self._given: list[Future[None]] = []

    def __len__(self) -> int:
        return sum(not future.done() for future in self._given)

    def submit(self, parcel: Path, seed: int, folder: Path, resume: bool) -> "Future[None]":
        call = partial(train_packed, parcel, seed, folder, resume)
        try:
            inner = self._process().submit(call)
        except BrokenProcessPool:
            self._place.close()
            self._pool = None
            inner = self._process().submit(call)
        given: Future[None] = Future()
        self._given = [*(future for future in self._given if not future.done()), given]
        inner.add_done_callback(partial(self._pass_on, given))
        return given

    def _process(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._lost = False
            self._pool = self._place.enter_context(processes(self._jobs, number=1))
        return self._pool

    def _pass_on(self, given: "Future[None]", inner: "Future[None]") -> None:
        if inner.cancelled():
            given.cancel()
            return
        error = inner.exception()
        if isinstance(error, BrokenProcessPool):  # all are told, the one under way first
            error, self._lost = (NotBegun() if self._lost else error), True
        if error is None:
            given.set_result(None)
        else:
            given.set_exception(error)

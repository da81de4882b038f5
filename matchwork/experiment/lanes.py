"""Processes of their own for seeds of many experiments: one that is killed loses only its seed."""

from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType

from matchwork.experiment.side_by_side import processes, train_packed


class NotBegun(Exception):
    """The process that a seed was waiting for has been killed; it may have another."""


class Lanes:
    """As many processes as `jobs`, each with the seeds that wait for it; use it as a context."""

    def __init__(self, jobs: int) -> None:
        self._open = ExitStack()
        self._lanes = [_Lane(jobs) for _ in range(jobs)]

    def submit(self, parcel: Path, seed: int, folder: Path, resume: bool) -> "Future[None]":
        """Train a seed of what `pack` wrote, as soon as a process is free."""
        return min(self._lanes, key=len).submit(parcel, seed, folder, resume)

    def __enter__(self) -> "Lanes":
        for lane in self._lanes:
            self._open.push(lane.end)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, traceback)


class _Lane:
    """One process at a time, made anew after it was killed."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._open = ExitStack()
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
            self._open.close()
            self._pool = None
            inner = self._process().submit(call)
        given: Future[None] = Future()
        self._given = [*(future for future in self._given if not future.done()), given]
        inner.add_done_callback(partial(self._pass_on, given))
        return given

    def end(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, traceback)

    def _process(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._lost = False
            self._pool = self._open.enter_context(processes(self._jobs, number=1))
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

"""Micro-batching: requests of different clients are scored together, from a bounded queue.

Every model has a queue and one thread that empties it. An idle model starts at once; while it
runs, requests gather, and the next batch takes them together. A batch waits for more requests
only if the batch before it held more than one.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any, TypeAlias

from matchwork.serve.failures import Failure, Kind
from matchwork.serve.metrics import Metrics
from matchwork.serve.settings import Settings
from matchwork.types import TextPair

Requests: TypeAlias = Sequence[Sequence[TextPair]]
"""The pairs of several requests."""
Work: TypeAlias = Callable[[Requests, threading.Event], Sequence[Any]]
"""Returns one result per request; may return anything once the event, "cancelled", is set."""

_DECAY = 0.8  # weight of earlier batches in the running mean of the speed


@dataclass(eq=False)
class _Job:
    work: Work
    pairs: Sequence[TextPair]
    answer: "asyncio.Future[Any]"

    def finish(self, result: object) -> None:
        """Pass a result or an exception to the event loop, from the model's thread."""
        self.answer.get_loop().call_soon_threadsafe(self._finish, result)

    def _finish(self, result: object) -> None:
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Batcher:
    """The queue of one model."""

    def __init__(self, name: str, settings: Settings, metrics: Metrics) -> None:
        self.name = name
        self._settings = settings
        self._metrics = metrics
        self._waiting: deque[_Job] = deque()
        self._running: list[_Job] = []
        self._cancelled = threading.Event()  # nobody waits for the running batch
        self._num_waiting = 0  # pairs
        self._pairs_per_second = 0.0
        self._expects_more = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve, name=f"model {name}", daemon=True)
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether new work is accepted."""
        return self._thread.is_alive() and not self._closing

    async def run(self, work: Work, pairs: Sequence[TextPair]) -> Any:
        """Return the result of `work` for these pairs, or refuse when too busy or closed.

        When the caller is cancelled, waiting work is dropped. Running work is told to stop once
        nobody waits for any request of its batch.
        """
        job = _Job(work, pairs, asyncio.get_running_loop().create_future())
        with self._changed:
            self._refuse_if_busy(len(pairs))
            self._waiting.append(job)
            self._count(len(pairs))
            self._changed.notify()
        try:
            return await job.answer
        except asyncio.CancelledError:
            self._drop(job)
            raise

    def close(self) -> None:
        """Refuse new work and finish the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _refuse_if_busy(self, num_pairs: int) -> None:
        if not self.is_ready:
            raise Failure(Kind.SHUTTING_DOWN, "the service is shutting down", retry_after=1)
        if not self._num_waiting:  # an empty queue takes a request of any size
            return
        ahead = self._num_waiting + _num_pairs(self._running)
        seconds = ahead / self._pairs_per_second if self._pairs_per_second else 0.0
        full = self._num_waiting + num_pairs > self._settings.max_queue
        if full or seconds > self._settings.deadline_ms / 1000:
            raise Failure(
                Kind.OVERLOADED,
                f"model {self.name!r} is overloaded: {self._num_waiting} pairs are waiting",
                retry_after=max(1, ceil(seconds)),
            )

    def _drop(self, job: _Job) -> None:
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
                self._count(-len(job.pairs))
            elif all(each.answer.done() for each in self._running):
                self._cancelled.set()

    def _count(self, num_pairs: int) -> None:
        self._num_waiting += num_pairs
        self._metrics.queue.labels(self.name).set(self._num_waiting)

    def _serve(self) -> None:
        while jobs := self._next_batch():
            self._measure(jobs)

    def _next_batch(self) -> list[_Job]:
        """Wait for work; return nothing once the queue is closed and empty."""
        with self._changed:
            self._running = []
            while not self._closing:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if self._expects_more:
                    self._wait_for_more()
                if self._waiting:  # else the client left meanwhile
                    break
            while self._waiting and self._fits(self._waiting[0]):
                self._running.append(self._waiting.popleft())
            self._cancelled.clear()
            self._expects_more = len(self._running) > 1
            self._count(-_num_pairs(self._running))
            return self._running

    def _wait_for_more(self) -> None:
        end = monotonic() + self._settings.max_wait_ms / 1000
        while self._num_waiting < self._settings.max_batch and not self._closing:
            left = end - monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _fits(self, job: _Job) -> bool:
        if not self._running:
            return True
        num_pairs = _num_pairs(self._running) + len(job.pairs)
        return job.work == self._running[0].work and num_pairs <= self._settings.max_batch

    def _measure(self, jobs: Sequence[_Job]) -> None:
        num_pairs, start = _num_pairs(jobs), monotonic()
        self._run(jobs)
        seconds = monotonic() - start
        speed = num_pairs / max(seconds, 1e-6)
        past = self._pairs_per_second or speed
        self._pairs_per_second = _DECAY * past + (1 - _DECAY) * speed
        self._metrics.batch_pairs.labels(self.name).observe(num_pairs)
        self._metrics.batch_requests.labels(self.name).observe(len(jobs))
        self._metrics.batch_seconds.labels(self.name).observe(seconds)

    def _run(self, jobs: Sequence[_Job]) -> None:
        try:
            results = jobs[0].work([job.pairs for job in jobs], self._cancelled)
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].finish(error)
                return
            for job in jobs:  # one by one, so that only the request at fault fails
                if not job.answer.done():
                    self._run([job])
            return
        if not self._cancelled.is_set():
            for job, result in zip(jobs, results, strict=True):
                job.finish(result)


def _num_pairs(jobs: Sequence[_Job]) -> int:
    return sum(len(job.pairs) for job in jobs)

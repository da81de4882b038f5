"""Micro-batching: requests of different clients are scored together, in a queue that has an end.

One thread per matcher runs it. A matcher that is idle starts at once; while it runs, requests
gather, and the next batch takes them together. Only where the last batch had company does the
next one wait a moment for more.
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

Work: TypeAlias = Callable[[Sequence[Sequence[TextPair]], Callable[[], bool]], Sequence[Any]]
"""From the pairs of several requests, and whether anybody still waits, to one result each."""

_MEMORY = 0.8  # of the speed so far, when a batch has been measured


@dataclass(eq=False)
class _Job:
    work: Work
    pairs: Sequence[TextPair]
    answer: "asyncio.Future[Any]"

    def settle(self, result: object) -> None:
        """Hand the result over to the event loop, from the thread of the matcher."""
        self.answer.get_loop().call_soon_threadsafe(self._settle, result)

    def _settle(self, result: object) -> None:
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Batcher:
    """The queue of one matcher; `close` finishes what was accepted."""

    def __init__(self, name: str, settings: Settings, metrics: Metrics) -> None:
        self.name = name
        self._settings = settings
        self._metrics = metrics
        self._waiting: deque[_Job] = deque()
        self._num_waiting = 0
        self._num_running = 0
        self._pairs_per_second = 0.0
        self._company = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve, name=f"matcher {name}", daemon=True)
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether new work would be accepted."""
        return self._thread.is_alive() and not self._closing

    async def run(self, work: Work, pairs: Sequence[TextPair]) -> Any:
        """The result of `work` for these pairs; refused at once when too many wait.

        When the caller is cancelled, work that has not begun is dropped.
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
        """Accept nothing more, finish the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _refuse_if_busy(self, num_pairs: int) -> None:
        if not self.is_ready:
            raise Failure(Kind.CLOSING, "the service is shutting down", retry_after=1)
        if not self._num_waiting:  # however large: an idle matcher never refuses
            return
        ahead = self._num_waiting + self._num_running
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

    def _count(self, num_pairs: int) -> None:
        self._num_waiting += num_pairs
        self._metrics.queue.labels(self.name).set(self._num_waiting)

    def _serve(self) -> None:
        while jobs := self._take():
            self._measure(jobs)

    def _take(self) -> list[_Job]:
        """The next batch; none when everything is done and the queue is closed."""
        with self._changed:
            self._num_running = 0
            while not self._waiting and not self._closing:
                self._changed.wait()
            if self._company:
                self._wait_for_more()
            jobs: list[_Job] = []
            while self._waiting and self._fits(jobs, self._waiting[0]):
                jobs.append(self._waiting.popleft())
            self._num_running = sum(len(job.pairs) for job in jobs)
            self._company = len(jobs) > 1
            self._count(-self._num_running)
        if jobs or self._closing:
            return jobs
        return self._take()  # what it waited for was dropped meanwhile

    def _wait_for_more(self) -> None:
        end = monotonic() + self._settings.max_wait_ms / 1000
        while self._num_waiting < self._settings.max_batch and not self._closing:
            left = end - monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _fits(self, jobs: Sequence[_Job], job: _Job) -> bool:
        if not jobs:
            return True
        total = sum(len(each.pairs) for each in jobs) + len(job.pairs)
        return job.work == jobs[0].work and total <= self._settings.max_batch

    def _measure(self, jobs: Sequence[_Job]) -> None:
        num_pairs, began = sum(len(job.pairs) for job in jobs), monotonic()
        self._run(jobs)
        seconds = monotonic() - began
        speed = num_pairs / max(seconds, 1e-6)
        past = self._pairs_per_second or speed
        self._pairs_per_second = _MEMORY * past + (1 - _MEMORY) * speed
        self._metrics.batch_pairs.labels(self.name).observe(num_pairs)
        self._metrics.batch_requests.labels(self.name).observe(len(jobs))
        self._metrics.batch_seconds.labels(self.name).observe(seconds)

    def _run(self, jobs: Sequence[_Job]) -> None:
        def wanted() -> bool:
            return any(not job.answer.done() for job in jobs)

        try:
            results = jobs[0].work([job.pairs for job in jobs], wanted)
        except Exception as error:
            alone = len(jobs) == 1 or not wanted()
            for job in jobs:  # alone, so that the fault of one is not that of its neighbours
                job.settle(error) if alone else self._run([job])
            return
        for job, result in zip(jobs, results, strict=True):
            job.settle(result)

"""The queue by itself: batching, refusals, cancellation."""

import asyncio
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchwork.serve.batching import Batcher
from matchwork.serve.failures import Failure, Kind
from matchwork.serve.metrics import Metrics
from matchwork.serve.settings import Settings


class Work:
    """Records its batches; waits while `go` is cleared."""

    def __init__(self):
        self.batches = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, requests, cancelled):
        self.batches.append([len(pairs) for pairs in requests])
        assert self.go.wait(10)
        if any(("q", "bad") in pairs for pairs in requests):
            raise ValueError("bad")
        return [[document for _, document in pairs] for pairs in requests]


def pairs(*documents):
    return [("q", document) for document in documents]


def batched(scenario, **changes):
    """Run a coroutine with a batcher and its work; closes the batcher afterwards."""
    work = Work()

    async def run():
        batcher = Batcher("m", Settings(**{"max_wait_ms": 0, **changes}), Metrics())
        try:
            return await asyncio.wait_for(scenario(batcher, work), 20)
        finally:
            work.go.set()
            await asyncio.to_thread(batcher.close)

    return asyncio.run(run()), work


async def hold(batcher, work):
    """A first request that keeps the matcher busy."""
    work.go.clear()
    task = asyncio.ensure_future(batcher.run(work, pairs("held")))
    while not work.batches:
        await asyncio.sleep(0.001)
    return task


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.text(max_size=3), min_size=1, max_size=5), min_size=1, max_size=12),
    st.integers(1, 8),
)
def test_everyone_gets_their_own(requests, max_batch):
    async def scenario(batcher, work):
        return await asyncio.gather(*(batcher.run(work, pairs(*each)) for each in requests))

    found, work = batched(scenario, max_batch=max_batch, max_queue=10_000)
    assert found == requests
    assert sum(map(sum, work.batches)) == sum(map(len, requests))
    assert all(len(batch) == 1 or sum(batch) <= max_batch for batch in work.batches)


def test_what_waits_is_scored_together():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        more = [asyncio.ensure_future(batcher.run(work, pairs("a", "b"))) for _ in range(5)]
        await asyncio.sleep(0.01)
        work.go.set()
        await asyncio.gather(first, *more)

    _, work = batched(scenario, max_batch=6)
    assert work.batches == [[1], [2, 2, 2], [2, 2]]


def test_company_is_waited_for_only_where_there_was_some():
    async def scenario(batcher, work):
        began = time.monotonic()
        await batcher.run(work, pairs("alone"))
        alone = time.monotonic() - began
        first = await hold(batcher, work)
        both = [asyncio.ensure_future(batcher.run(work, pairs(each))) for each in "ab"]
        await asyncio.sleep(0.01)
        work.go.set()
        await asyncio.gather(first, *both)
        began = time.monotonic()
        await batcher.run(work, pairs("late"))
        return alone, time.monotonic() - began

    (alone, after_company), _ = batched(scenario, max_wait_ms=300)
    assert alone < 0.2 < 0.3 <= after_company


def test_a_full_queue_refuses_at_once():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        waiting = asyncio.ensure_future(batcher.run(work, pairs(*"abc")))
        await asyncio.sleep(0)
        with pytest.raises(Failure, match="model 'm' is overloaded: 3 pairs are waiting") as found:
            await batcher.run(work, pairs("d", "e"))
        assert found.value.kind is Kind.OVERLOADED and found.value.retry_after >= 1
        fitting = asyncio.ensure_future(batcher.run(work, pairs("d")))
        await asyncio.sleep(0)
        work.go.set()
        await asyncio.gather(first, waiting, fitting)

    batched(scenario, max_queue=4)


def test_an_idle_matcher_takes_more_than_the_queue_holds():
    async def scenario(batcher, work):
        return await batcher.run(work, pairs(*"abcdef"))

    assert batched(scenario, max_queue=2)[0] == list("abcdef")


def test_what_would_come_too_late_is_refused():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        await asyncio.sleep(0.2)  # one pair in more than 0.2 s
        work.go.set()
        await first
        first = await hold_again(batcher, work)
        waiting = asyncio.ensure_future(batcher.run(work, pairs(*"abc")))
        await asyncio.sleep(0)
        with pytest.raises(Failure, match="overloaded"):
            await batcher.run(work, pairs("d"))
        work.go.set()
        await asyncio.gather(first, waiting)

    async def hold_again(batcher, work):
        work.batches.clear()
        return await hold(batcher, work)

    batched(scenario, deadline_ms=500)


def test_work_of_those_who_left_is_dropped():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        gone = asyncio.ensure_future(batcher.run(work, pairs("gone", "gone")))
        stays = asyncio.ensure_future(batcher.run(work, pairs("stays")))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.sleep(0.01)
        work.go.set()
        return await asyncio.gather(first, stays)

    found, work = batched(scenario)
    assert found == [["held"], ["stays"]] and work.batches == [[1], [1]]


def test_running_work_is_cancelled_once_nobody_waits():
    seen = []

    def patient(requests, cancelled):
        seen.append(len(requests))
        seen.append(cancelled.wait(0.2 if len(requests) == 1 else 5))
        return [None] * len(requests)

    async def scenario(batcher, work):
        first = await hold(batcher, work)
        tasks = [asyncio.ensure_future(batcher.run(patient, pairs(each))) for each in "ab"]
        await asyncio.sleep(0.01)
        work.go.set()
        await first
        while not seen:
            await asyncio.sleep(0.001)
        tasks[0].cancel()
        await asyncio.sleep(0.05)
        assert seen == [2]  # somebody still waits
        tasks[1].cancel()
        await asyncio.sleep(0.05)
        assert seen == [2, True]
        await batcher.run(patient, pairs("c"))  # the next batch is not cancelled

    batched(scenario)
    assert seen == [2, True, 1, False]


def test_the_fault_of_one_is_not_that_of_its_neighbours():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        more = [asyncio.ensure_future(batcher.run(work, pairs(d))) for d in ("a", "bad", "b")]
        await asyncio.sleep(0.01)
        work.go.set()
        await first
        return await asyncio.gather(*more, return_exceptions=True)

    (a, bad, b), _ = batched(scenario)
    assert (a, b) == (["a"], ["b"]) and isinstance(bad, ValueError)


def test_closing_finishes_what_was_accepted():
    async def scenario(batcher, work):
        first = await hold(batcher, work)
        waiting = asyncio.ensure_future(batcher.run(work, pairs("a")))
        await asyncio.sleep(0.01)
        closing = asyncio.ensure_future(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0.01)
        with pytest.raises(Failure, match="shutting down"):
            await batcher.run(work, pairs("late"))
        work.go.set()
        await closing
        return await asyncio.gather(first, waiting)

    assert batched(scenario)[0] == [["held"], ["a"]]

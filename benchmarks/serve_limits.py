"""The service for long at most of its capacity, and for a while far beyond it."""

from collections.abc import Sequence
from statistics import mean
from threading import Event, Thread

import psutil

from benchmarks.figures import Figure, Figures, Target
from benchmarks.load import serving

SHARE, TIMES = 0.8, 3.0
MEASURED, WARM, LOOK_EVERY = 10.0, 10.0, 1.0  # seconds
FLAT = Target("ratio", "most", 1.05)
NONE = Target("value", "most", 0)
STEADY = Target("ratio", "most", 3.0)
# As many pairs as one request has: one is scored, one waits, the others are told at once.
SHORT_QUEUE = ("--max-batch", "100", "--max-queue", "100")


def soak(model: str, bodies: Sequence[str], seconds: float) -> Figures:
    """Errors, and the memory of the last minute beside that of the first."""
    with serving(model) as service:
        service.load(bodies, WARM, clients=32)
        capacity = service.load(bodies, MEASURED, clients=32).rate
        with _Memory(service.process) as memory:
            load = service.load(bodies, seconds, rate=SHARE * capacity)
    minute = max(1, min(round(60 / LOOK_EVERY), len(memory.mib) // 3))
    failed = len(load.answers) - load.count(200)
    return {
        "requests answered": _figure(load.rate, "requests/s", capacity, "capacity"),
        "requests that failed": _figure(failed, "requests", len(load.answers), "all of them", NONE),
        "memory, last minute": _figure(
            mean(memory.mib[-minute:]), "MiB", mean(memory.mib[:minute]), "first minute", FLAT
        ),
    }


def overload(model: str, bodies: Sequence[str], seconds: float = 30.0) -> Figures:
    """The slowest of the accepted, beside those of a service with one client at a time."""
    with serving(model, *SHORT_QUEUE) as service:
        service.load(bodies, WARM)
        calm = service.load(bodies, MEASURED)
        capacity = service.load(bodies, MEASURED, clients=2).rate
        load = service.load(bodies, seconds, rate=TIMES * capacity)
    asked, unloaded = len(load.answers), calm.milliseconds(99)
    other = asked - load.count(200, 429)
    refused = [1e3 * spent for status, spent in load.answers if status == 429]
    return {
        "accepted, p99": _figure(load.milliseconds(99), "ms", unloaded, "unloaded, p99", STEADY),
        "accepted": _figure(load.rate, "requests/s", capacity, "capacity"),
        "refused with 429": _figure(len(refused), "requests", asked, "all of them"),
        "refused, slowest": _figure(max(refused, default=0.0), "ms", unloaded, "unloaded, p99"),
        "hung or failed": _figure(other, "requests", asked, "all of them", NONE),
    }


class _Memory:
    """Resident memory of a process, looked at again and again."""

    def __init__(self, process: int) -> None:
        self.mib: list[float] = []
        self._process = psutil.Process(process)
        self._done = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(LOOK_EVERY):
            self.mib.append(self._process.memory_info().rss / 2**20)


def _figure(
    value: float, unit: str, peer: float, peer_name: str, target: Target | None = None
) -> Figure:
    return Figure(value=value, unit=unit, peer=peer, peer_name=peer_name, target=target)

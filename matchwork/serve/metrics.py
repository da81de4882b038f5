"""What Prometheus is told: latency, batches, queues, cut texts, errors."""

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters of one application; with several workers, of all of them through shared files."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self.requests = Counter(
            "matchwork_requests",
            "Answers by path and status.",
            ["path", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "matchwork_request_seconds",
            "From the first byte to the answer.",
            ["path"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge(
            "matchwork_requests_in_flight",
            "Requests being answered.",
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.abandoned = Counter(
            "matchwork_requests_abandoned",
            "Clients that left before the answer.",
            registry=registry,
        )
        self.queue = Gauge(
            "matchwork_queue_pairs",
            "Pairs that wait for a matcher.",
            ["model"],
            multiprocess_mode="livesum",
            registry=registry,
        )
        self.batch_pairs = Histogram(
            "matchwork_batch_pairs",
            "Pairs scored together.",
            ["model"],
            buckets=_SIZES,
            registry=registry,
        )
        self.batch_requests = Histogram(
            "matchwork_batch_requests",
            "Requests answered together.",
            ["model"],
            buckets=_SIZES,
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "matchwork_batch_seconds",
            "Time in the matcher.",
            ["model"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.cut_texts = Counter(
            "matchwork_cut_texts",
            "Texts longer than a matcher reads.",
            ["model"],
            registry=registry,
        )
        self.cut_tokens = Counter(
            "matchwork_cut_tokens", "Tokens that were cut off.", ["model"], registry=registry
        )
        forget_dead_workers()

    def page(self) -> bytes:
        """The text that Prometheus reads."""
        registry = self._registry
        if FOLDER_VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def forget_dead_workers() -> None:
    """Gauges of a worker that was killed would count for ever."""
    folder = os.environ.get(FOLDER_VARIABLE)
    for file in Path(folder).glob("gauge_live*_*.db") if folder else ():
        if not _is_alive(int(file.stem.rpartition("_")[2])):
            file.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

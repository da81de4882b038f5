"""Prometheus metrics: latency, batches, queues, truncation, statuses."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Metrics of one application, or of all workers through shared files."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        options: dict[str, Any] = {"namespace": "matchwork", "registry": self._registry}
        counter: Callable[..., Counter] = partial(Counter, **options)
        gauge: Callable[..., Gauge] = partial(Gauge, multiprocess_mode="livesum", **options)
        sizes: Callable[..., Histogram] = partial(
            Histogram, labelnames=["model"], buckets=_SIZES, **options
        )
        seconds: Callable[..., Histogram] = partial(Histogram, buckets=_SECONDS, **options)
        self.requests = counter("requests", "Responses by path and status.", ["path", "status"])
        self.seconds = seconds(
            "request_seconds", "Time from the first byte to the response.", ["path"]
        )
        self.in_flight = gauge("requests_in_flight", "Requests being answered.")
        self.abandoned = counter(
            "requests_abandoned", "Clients that disconnected before the response."
        )
        self.queue = gauge("queue_pairs", "Pairs waiting for a model.", ["model"])
        self.batch_pairs = sizes("batch_pairs", "Pairs of a batch.")
        self.batch_requests = sizes("batch_requests", "Requests of a batch.")
        self.batch_seconds = seconds("batch_seconds", "Time to score a batch.", ["model"])
        self.cut_texts = counter("cut_texts", "Texts longer than a model reads.", ["model"])
        self.cut_tokens = counter("cut_tokens", "Tokens cut off.", ["model"])
        _forget_dead_workers()

    def page(self) -> bytes:
        """Return the metrics in Prometheus's text format."""
        registry = self._registry
        if FOLDER_VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _forget_dead_workers() -> None:
    """Delete the gauges of killed workers, which would count forever."""
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

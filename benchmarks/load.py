"""A service and its clients, each a process of its own, and what the clients met."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile

import numpy as np

from benchmarks.child import ROOT
from benchmarks.load_generator import Plan
from benchmarks.report import THREADS

PATH = "/v2/rerank"


@dataclass(frozen=True)
class Load:
    """What clients met: (status, seconds) of every answer, and how long it all took."""

    seconds: float
    answers: Sequence[tuple[int, float]]

    @property
    def rate(self) -> float:
        """Good answers a second."""
        return len(self._good) / self.seconds

    def milliseconds(self, percent: float) -> float:
        """How long so many of the good answers took at most."""
        return 1e3 * float(np.percentile(self._good, percent))

    def count(self, *statuses: int) -> int:
        """How many answers had one of these statuses."""
        return sum(status in statuses for status, _ in self.answers)

    @property
    def _good(self) -> list[float]:
        good = [seconds for status, seconds in self.answers if status == 200]
        if not good:
            raise RuntimeError(f"no good answer among {len(self.answers)}")
        return good


@dataclass(frozen=True)
class Service:
    """Where it listens and which process it is."""

    host: str
    port: int
    process: int

    def load(self, bodies: Sequence[str], seconds: float, **how: float) -> Load:
        """Let clients ask for a while: see `Plan`."""
        plan = Plan(
            host=self.host, port=self.port, path=PATH, bodies=list(bodies), seconds=seconds, **how
        )
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.load_generator"],
            input=plan.to_json(),
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"the load generator failed:\n{done.stderr}")
        return Load(**json.loads(done.stdout))


@contextmanager
def serving(model: str, *options: str) -> Iterator[Service]:
    """`matchwork serve` on any free port, on one thread."""
    command = [sys.executable, "-m", "matchwork", "serve", f"model={model}", "--port", "0"]
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env={**os.environ, THREADS: "1", "COLUMNS": "200"},
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://(\S+):(\d+)", process.stdout.readline())
            if not found:
                errors.seek(0)
                raise RuntimeError(f"the service did not start:\n{errors.read()}")
            yield Service(found[1], int(found[2]), process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            process.stdout.close()  # type: ignore[union-attr]

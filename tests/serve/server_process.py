"""A real server in a process of its own, on a free port."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

PROGRAM = (sys.executable, "-m", "matchwork", "serve")
SLOW = (sys.executable, str(Path(__file__).with_name("slow_server.py")))
START_SECONDS = 60
MAX_DOCUMENT_TOKENS = 30
SLOW_SETTINGS = (
    '{"max_queue": 4, "max_batch": 2, "max_wait_ms": 0, "deadline_ms": 3000, '
    '"api_keys": ["first-key", "second-key"]}'
)
KEY = {"Authorization": "Bearer second-key"}


@dataclass
class Server:
    url: str
    process: subprocess.Popen[str]
    errors: IO[str]

    def __post_init__(self) -> None:
        # Without idle connections: one that the server closes meanwhile would fail by chance.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=self.url, timeout=30, limits=limits)

    def post(self, path: str, json: object = None, **more) -> httpx.Response:
        return self.client.post(path, json=json, **more)

    def send(self, path: str, content: bytes, kind: str = "application/json") -> httpx.Response:
        return self.client.post(path, content=content, headers={"content-type": kind})

    def get(self, path: str, **more) -> httpx.Response:
        return self.client.get(path, **more)

    def metric(self, name: str, **headers: str) -> float:
        """The sum of a metric over its labels."""
        lines = self.get("/metrics", headers=headers).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"{name}(\{{| )", line))

    def wait_for(self, name: str, value: float, **headers: str) -> None:
        end = time.monotonic() + 15
        while self.metric(name, **headers) != value:
            assert time.monotonic() < end, f"{name} is {self.metric(name, **headers)}, not {value}"
            time.sleep(0.02)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def log(self) -> str:
        self.errors.flush()
        return Path(self.errors.name).read_text()

    def wait_for_log(self, *lines: str) -> str:
        """The log once these stand in it: an answer may arrive before its line is written."""
        end = time.monotonic() + 15
        while missing := [line for line in lines if line not in self.log()]:
            assert time.monotonic() < end, f"not logged: {missing}\n{self.log()}"
            time.sleep(0.02)
        return self.log()


@contextmanager
def running(*command: object) -> Iterator[Server]:
    with tempfile.NamedTemporaryFile("w", suffix=".log") as errors:
        process = subprocess.Popen(
            [*map(str, command), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, f"{line}{Path(errors.name).read_text()}"
            server = Server(found[0], process, errors)
            end = time.monotonic() + START_SECONDS
            while server.get("/health/ready").status_code != 200:
                assert time.monotonic() < end
                time.sleep(0.05)
            yield server
            server.client.close()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            process.stdout.close()

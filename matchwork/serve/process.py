"""Run the application in one process, or in several workers that are replaced when they die."""

import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from matchwork.errors import ConfigError, MatchworkError
from matchwork.processes import share_cores, when_parent_ends
from matchwork.serve.metrics import FOLDER_VARIABLE
from matchwork.serve.opening import Source, open_source
from matchwork.serve.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from matchwork.matcher.precision import Precision

_BACKLOG = 2048
# Seconds:
_KEEP_ALIVE = 75  # of idle connections; longer than most clients', so that they close first
_IDLE_AT_SHUTDOWN = 1.0  # that an idle connection stays open when the service stops
_GRACE = 5  # beyond the deadline that a request may take when the service stops
_UNRESPONSIVE = 60  # after which a worker that does not respond is replaced
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {
        name: {"handlers": ["stderr"], "level": "INFO", "propagate": False}
        for name in ("matchwork.serve", "uvicorn")
    },
}


@dataclass(frozen=True)
class Plan:
    """Arguments of a worker that builds the application; `collection` is a corpus for `/search`."""

    sources: Sequence[Source]
    settings: Settings
    device: str = "auto"
    precision: "Precision" = "32"
    workers: int = 1
    collection: Path | None = None

    def build(self) -> "FastAPI":
        """Open the models and return the application."""
        from matchwork.data.collection import read_texts
        from matchwork.serve.app import create_app

        opened = [open_source(source, self.device, self.precision) for source in self.sources]
        texts = None if self.collection is None else read_texts(self.collection)
        return create_app(opened, self.settings, texts)

    def build_in_worker(self) -> "FastAPI":
        """Build the application in a worker process.

        A failure exits with uvicorn's status for failed starts, which stops the service instead
        of starting workers forever. When the parent dies, the worker finishes its requests and
        exits, which frees the port.
        """
        when_parent_ends(partial(os.kill, os.getpid(), signal.SIGTERM))
        share_cores(self.workers)
        try:
            return self.build()
        except MatchworkError as error:
            logging.getLogger("matchwork.serve").error("%s", error)
            sys.exit(STARTUP_FAILURE)


def serve(
    plan: Plan, host: str, port: int, ready: Callable[[str], None] = lambda address: None
) -> None:
    """Serve until SIGTERM or SIGINT, then finish accepted requests.

    Args:
        plan: What to serve.
        host: Address to listen on.
        port: Port; 0 takes any free one.
        ready: Called with the URL once the port is open.

    Raises:
        ConfigError: Names clash, the port is taken, or a model cannot be opened.
    """
    if plan.workers < 1:
        raise ConfigError(f"workers must be at least 1, got {plan.workers}")
    names = [source.name for source in plan.sources]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two models are named {name!r}; name one with NAME=FOLDER")
    with _listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        run = _serve_alone if plan.workers == 1 else _serve_together
        run(plan, listening, partial(ready, address))


class _Supervisor(Multiprocess):
    """uvicorn's supervisor, but it notices at once that a worker died during a health check."""

    def keep_subprocess_alive(self) -> None:
        """Replace dead workers."""
        for worker in self.processes:
            worker.child_conn.close()  # else our copy keeps the pipe of a dead worker open
        super().keep_subprocess_alive()

    def terminate_all(self) -> None:
        """Stop the workers, and refuse new connections at once."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()


class _Connection(HttpToolsProtocol):
    """uvicorn's connection, but requests in transit when the service stops are answered."""

    def shutdown(self) -> None:
        """Close the connection after a moment."""
        self.loop.call_later(_IDLE_AT_SHUTDOWN, super().shutdown)


def _serve_alone(plan: Plan, listening: socket.socket, ready: Callable[[], None]) -> None:
    config = _config(plan, plan.build())
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn shuts down gracefully, then raises the signal again.
        signal.signal(number, lambda *_: None)
    ready()
    uvicorn.Server(config).run(sockets=[listening])


def _serve_together(plan: Plan, listening: socket.socket, ready: Callable[[], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="matchwork-metrics-") as folder:
        os.environ[FOLDER_VARIABLE] = folder  # shared by the workers
        config = _config(plan, plan.build_in_worker, factory=True, workers=plan.workers)
        supervisor = _Supervisor(config, sockets=[listening])
        ready()
        supervisor.run()
    if any(worker.exitcode == STARTUP_FAILURE for worker in supervisor.processes):
        raise ConfigError("a worker could not start; its error message is above")


def _config(plan: Plan, app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        log_config=LOGGING,
        access_log=False,  # URLs may hold texts; the guard logs without them
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=plan.settings.deadline_ms // 1000 + _GRACE,
        timeout_worker_healthcheck=_UNRESPONSIVE,
        **more,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error}; choose another --host or --port"
        ) from error
    listening.set_inheritable(True)
    return listening

"""A worker process: trains seeds that its parent sends, and reports progress and outcomes."""

import os
import pickle
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import torch

from matchwork.errors import TrainingError
from matchwork.experiment.outcome import Observer
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.runner.seed import train_seed
from matchwork.plugins import import_plugins
from matchwork.processes import share_cores, when_parent_ends

OUTCOME, ERROR = "outcome", "error"
"""Messages that end a job; all others are calls of an observer."""


@dataclass(frozen=True)
class Task:
    """A job as it is sent to a worker."""

    file: Path
    plugins: tuple[str, ...]
    seed: int
    folder: Path
    resume: bool


class _Reporter(Observer):
    """Sends progress to the parent; bars of several seeds would overwrite each other."""

    def __init__(self, parent: "Connection[Any, Any]") -> None:
        self._parent = parent

    def stage(self, text: str) -> None:
        self._parent.send(("stage", (text,)))

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        self._parent.send(("epoch", (seed, dict(record))))

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        self._parent.send(("stage_epoch", (seed, name, dict(record))))


def work(
    parent: "Connection[Any, Any]", num_workers: int, environment: Mapping[str, str], stop: Event
) -> None:
    """Train the tasks that the parent sends, until it closes the connection or sets `stop`.

    `environment` holds the parent's variables, since the fork server may have older ones.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked by the fork server
    # Files are whole at any moment, and the last checkpoint is there to resume from.
    when_parent_ends(partial(os._exit, 1))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))  # Lightning would only take a note
    os.environ.update(environment)
    share_cores(num_workers)
    try:
        _work(parent, stop)
    except (EOFError, OSError, KeyboardInterrupt, SystemExit):  # Lightning leaves on Ctrl-C
        return


def _work(parent: "Connection[Any, Any]", stop: Event) -> None:
    file, prepared = None, None
    while True:
        task: Task = parent.recv()
        if stop.is_set():
            return
        try:
            if file != task.file:
                import_plugins(task.plugins)
                prepared = None  # there may not be memory for two
                file, prepared = task.file, _load(task.file)
            assert prepared is not None
            reporter = _Reporter(parent)
            outcome = train_seed(prepared, task.seed, task.folder, task.resume, reporter)
        except Exception as error:
            parent.send((ERROR, _portable(error)))
        else:
            parent.send((OUTCOME, outcome))
        torch.cuda.empty_cache()  # others on this GPU may need the memory


def _load(file: Path) -> Prepared:
    with file.open("rb") as stream:
        prepared: Prepared = pickle.load(stream)
    return prepared


def _portable(error: Exception) -> Exception:
    """Return an error that survives being sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return TrainingError(f"{type(error).__name__}: {error}")
    return error

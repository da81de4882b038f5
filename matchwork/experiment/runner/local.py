"""A pool of local processes that train seeds: one that is killed loses only its seed."""

import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Iterable
from multiprocessing import connection, forkserver, get_all_start_methods, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from matchwork.experiment.outcome import Observer
from matchwork.experiment.runner.seed import Finished, Job, WorkerKilled
from matchwork.experiment.runner.worker import ERROR, OUTCOME, Task, work

_GRACE = 5.0  # seconds that an interrupted worker has for ending its step
_AHEAD = 2  # jobs of a worker: one that it trains, and one that waits, so that it is never idle
# Not forked from this process: threads and GPUs that it has used would not survive that. Where
# there are forks, they are of a server that has done nothing but import what workers need.
_CONTEXT: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")


def start_server() -> None:
    """Start the server that worker processes are forked from, while this process reads data."""
    if _CONTEXT.get_start_method() != "forkserver":
        return
    _CONTEXT.set_forkserver_preload(["matchwork.experiment.runner.worker"])
    # Ctrl-C also reaches the server, which would print a traceback of its imports.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class LocalPool:
    """Trains jobs in processes of this machine, which share its cores."""

    def __init__(self, num_workers: int, observer: Observer) -> None:
        self.num_workers = num_workers
        self._observer = observer
        self._stop = _CONTEXT.Event()
        self._workers: list[_Worker] = []
        self._waiting: deque[Job] = deque()
        self._folder = TemporaryDirectory(prefix="matchwork-")
        self._files: dict[str, Path] = {}

    def submit(self, job: Job) -> None:
        """Add a job; the data of its experiment is written once for all of its seeds."""
        self._waiting.append(job)
        self._distribute()

    def collect(self, wait: bool = True) -> list[Finished]:
        """Return the jobs that ended, and pass progress on to the observer meanwhile."""
        finished: list[Finished] = []
        while True:
            connections = {worker.connection: worker for worker in self._workers}
            if not connections:
                return finished
            block = wait and not finished and any(worker.jobs for worker in self._workers)
            ready = connection.wait(list(connections), None if block else 0)
            for each in ready:
                finished += self._receive(connections[cast("connection.Connection", each)])
            self._distribute()
            if not ready:
                return finished

    def _receive(self, worker: "_Worker") -> list[Finished]:
        """Handle a message of a worker; one that was killed gives its waiting job back."""
        try:
            kind, value = worker.connection.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.end()
            lost = [worker.jobs.popleft()] if worker.jobs else []
            self._waiting.extendleft(reversed(worker.jobs))
            return [Finished(job, WorkerKilled()) for job in lost]
        if kind in (OUTCOME, ERROR):
            return [Finished(worker.jobs.popleft(), value)]
        getattr(self._observer, kind)(*value)
        return []

    def _distribute(self) -> None:
        """Send waiting jobs to the workers with the fewest jobs, starting workers as needed."""
        while self._waiting:
            if len(self._workers) < self.num_workers and all(w.jobs for w in self._workers):
                self._workers.append(_Worker(self.num_workers, self._stop))
            worker = min(self._workers, key=lambda each: len(each.jobs))
            if len(worker.jobs) >= _AHEAD:
                return
            job = self._waiting[0]
            if not worker.send(job, self._file(job)):
                return  # it was killed: `collect` will remove it
            self._waiting.popleft()

    def _file(self, job: Job) -> Path:
        """Return the file of what an experiment's seeds share; write it for the first of them."""
        if job.label not in self._files:
            jobs = [each for worker in self._workers for each in worker.jobs]
            used = {each.label for each in (*jobs, *self._waiting)}
            for old in self._files.keys() - used:  # the disk need not hold all experiments
                self._files.pop(old).unlink()
            recipe, samples = job.prepared.recipe, job.prepared.samples
            recipe.train.make_sampler(samples)  # mines hard negatives once, not in every worker
            path = Path(self._folder.name, f"{time.monotonic_ns()}.pickle")
            with path.open("wb") as stream:
                pickle.dump(job.prepared, stream, protocol=5)
            self._files[job.label] = path
        return self._files[job.label]

    def __enter__(self) -> "LocalPool":
        start_server()
        return self

    def __exit__(self, kind: type[BaseException] | None, /, *error: object) -> None:
        """End the workers; after an error or Ctrl-C, terminate those that do not end soon."""
        if kind is not None:
            self._stop.set()
        for worker in self._workers:
            worker.connection.close()
        if kind is not None:
            _terminate([worker.process for worker in self._workers], _GRACE)
        for worker in self._workers:
            worker.process.join()
        self._folder.cleanup()


class _Worker:
    """A worker process and the jobs that it was sent, the one it trains first."""

    def __init__(self, num_workers: int, stop: Any) -> None:
        self.jobs: deque[Job] = deque()
        self.connection, theirs = _CONTEXT.Pipe()
        arguments = (theirs, num_workers, dict(os.environ), stop)
        self.process = _CONTEXT.Process(target=work, args=arguments)
        self.process.start()
        theirs.close()  # so that the end of the worker closes the connection

    def send(self, job: Job, file: Path) -> bool:
        """Give the worker a job, and return whether it could be reached."""
        plugins = job.prepared.recipe.plugins
        try:
            self.connection.send(Task(file, plugins, job.seed, job.folder, job.resume))
        except OSError:
            return False
        self.jobs.append(job)
        return True

    def end(self) -> None:
        """Close the connection and wait until the process has ended."""
        self.connection.close()
        self.process.join()


def _terminate(processes: Iterable[BaseProcess], grace: float) -> None:
    """Terminate processes that have not ended within some seconds.

    Ctrl-C reaches all processes of a terminal, but a signal sent to the command only itself.
    """
    deadline = time.monotonic() + grace
    left = {process.sentinel: process for process in processes}
    while left and (seconds := deadline - time.monotonic()) > 0:
        for sentinel in connection.wait(list(left), seconds):
            left.pop(cast(int, sentinel))
    for process in left.values():
        process.terminate()

"""Several seeds at once: a process each, after the work that they share."""

import os
import pickle
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection, forkserver, get_all_start_methods, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, cast

import torch

from matchwork.errors import TrainingError
from matchwork.experiment.observer import Observer
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.train_seed import train_seed
from matchwork.processes import share_cores, when_parent_ends

KILLED = (
    "the process of a seed was killed, perhaps for want of memory; try fewer --jobs, with "
    "--resume to keep what is finished"
)
_EVERY = 0.2  # seconds between two looks at what the processes tell
_GRACE = 5.0  # seconds that an interrupted process has for ending its step
# Not forked from this process: threads and GPUs that it has used would not survive that. Where
# there are forks, they are of a server that has done nothing but import what the seeds need.
_CONTEXT = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")


def train_side_by_side(
    prepared: Prepared, folders: Mapping[int, Path], resume: bool, observer: Observer, jobs: int
) -> None:
    """Train each seed into its folder, at most `jobs` at a time; they share out the cores.

    What a seed gives does not depend on the others. A seed that fails ends the run once those
    under way are done; what is finished stays.
    """
    observer.stage("preparing what all seeds share")
    news: SimpleQueue[Any] = _CONTEXT.SimpleQueue()
    with TemporaryDirectory(prefix="matchwork-") as shared:
        parcel = pack(prepared, Path(shared, "prepared.pickle"))
        with processes(min(jobs, len(folders)), news) as pool:
            running = {
                pool.submit(train_packed, parcel, seed, folder, resume)
                for seed, folder in folders.items()
            }
            try:
                while running:
                    done, _ = wait(running, _EVERY, FIRST_COMPLETED)
                    _pass_on(news, observer)
                    for future in done:
                        running.remove(future)
                        future.result()
            except BrokenProcessPool as error:
                raise TrainingError(KILLED) from error


def pack(prepared: Prepared, path: Path) -> Path:
    """Write what the seeds of a recipe share, all of it computed, for `train_packed`."""
    prepared.complete()
    with path.open("wb") as stream:
        pickle.dump(prepared, stream, protocol=5)
    return path


def import_early() -> None:
    """Begin to import what seeds need, in the server, while this process reads data."""
    if _CONTEXT.get_start_method() != "forkserver":
        return
    _CONTEXT.set_forkserver_preload([__name__])
    # Ctrl-C goes to the server, too, which would only tell where in its imports it was.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(
    jobs: int, news: "SimpleQueue[Any] | None" = None, *, number: int | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Processes for `train_packed`, which tell `news` how they get on.

    They share out the cores among `jobs`; there are as many here, or the given number. When the
    block fails, those under way end their seed and the others are not begun; when it is
    interrupted, they end soon.
    """
    import_early()
    stop = _CONTEXT.Event()
    told = news, jobs, dict(os.environ), stop
    with ProcessPoolExecutor(number or jobs, _CONTEXT, _begin, told) as pool:
        try:
            yield pool
        except BaseException as error:
            stop.set()  # some are in the hands of the processes already and cannot be cancelled
            if not isinstance(error, Exception):
                children = list((pool._processes or {}).values())
                Thread(target=_end_soon, args=(children,), daemon=True).start()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _end_soon(children: Sequence[BaseProcess]) -> None:
    """Ctrl-C reaches all processes of a terminal; those that were not told are ended."""
    deadline = time.monotonic() + _GRACE
    left = {child.sentinel: child for child in children}
    while left and (seconds := deadline - time.monotonic()) > 0:
        for sentinel in connection.wait(list(left), seconds):
            left.pop(cast(int, sentinel))
    for child in left.values():
        child.terminate()


def _pass_on(news: "SimpleQueue[Any]", observer: Observer) -> None:
    while not news.empty():
        told, arguments = news.get()
        getattr(observer, told)(*arguments)


class _Reporter(Observer):
    """Tells the parent; bars of several seeds would only overwrite each other."""

    def __init__(self, news: "SimpleQueue[Any]") -> None:
        self._news = news

    def stage(self, text: str) -> None:
        self._news.put(("stage", (text,)))

    def epoch(self, seed: int, record: Mapping[str, float]) -> None:
        self._news.put(("epoch", (seed, dict(record))))

    def stage_epoch(self, seed: int, name: str, record: Mapping[str, float]) -> None:
        self._news.put(("stage_epoch", (seed, name, dict(record))))


_shared: dict[str, Any] = {}  # of a worker: whom to tell, whether to stop, the last parcel


def _begin(
    news: "SimpleQueue[Any] | None", jobs: int, environment: Mapping[str, str], stop: Event
) -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # as the server has blocked it
    # Files are whole at any moment, and the last checkpoint is there to go on from. A pool that has
    # lost a process terminates the others; Lightning would end the seed, but not the process.
    when_parent_ends(partial(os._exit, 1))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    os.environ.update(environment)  # the server may be older than a change of it
    share_cores(jobs)
    _shared.update(stop=stop, observer=Observer() if news is None else _Reporter(news))


def train_packed(parcel: Path, seed: int, folder: Path, resume: bool) -> None:
    """Train one seed of what `pack` wrote; runs in one of `processes`."""
    if _shared["stop"].is_set():
        raise TrainingError(f"seed {seed} was not begun, as the run was stopped")
    if _shared.get("parcel") != parcel:
        _shared.pop("prepared", None)  # there may not be room for two
        with parcel.open("rb") as stream:
            _shared.update(parcel=parcel, prepared=pickle.load(stream))
    try:
        train_seed(_shared["prepared"], seed, folder, resume, _shared["observer"])
    except KeyboardInterrupt:
        _shared["stop"].set()  # before this process is handed the next seed
        raise
    torch.cuda.empty_cache()  # others on this GPU want what the seed no longer needs

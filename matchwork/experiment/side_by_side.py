"""Several seeds at once: a process each, after the work that they share."""

import os
import pickle
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matchwork.errors import TrainingError
from matchwork.experiment.observer import Observer
from matchwork.experiment.prepare import Prepared
from matchwork.experiment.train_seed import train_seed

_EVERY = 0.2  # seconds between two looks at what the processes tell


def train_side_by_side(
    prepared: Prepared, folders: Mapping[int, Path], resume: bool, observer: Observer, jobs: int
) -> None:
    """Train each seed into its folder, at most `jobs` at a time; they share out the cores.

    What a seed gives does not depend on the others. A seed that fails ends the run once those
    under way are done; what is finished stays.
    """
    observer.stage("preparing what all seeds share")
    prepared.complete()
    jobs = min(jobs, len(folders))
    # Not forked: threads and GPUs that the parent has used would not survive that.
    context = get_context("spawn")
    news: SimpleQueue[Any] = context.SimpleQueue()
    with TemporaryDirectory(prefix="matchwork-") as shared:
        parcel = Path(shared, "prepared.pickle")
        with parcel.open("wb") as stream:
            pickle.dump(prepared, stream, protocol=5)
        pool = ProcessPoolExecutor(jobs, context, _begin, (parcel, news, jobs))
        with pool:
            running = {
                pool.submit(_train, seed, folder, resume) for seed, folder in folders.items()
            }
            try:
                while running:
                    done, _ = wait(running, _EVERY, FIRST_COMPLETED)
                    _pass_on(news, observer)
                    for future in done:
                        running.remove(future)
                        future.result()
            except BrokenProcessPool as error:
                raise TrainingError(
                    "the process of a seed was killed, perhaps for want of memory; try fewer "
                    "--jobs, with --resume to keep what is finished"
                ) from error
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise


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


_shared: dict[str, Any] = {}  # of a worker process: what every seed it trains needs


def _begin(parcel: Path, news: "SimpleQueue[Any]", jobs: int) -> None:
    import torch

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))
    with parcel.open("rb") as stream:
        _shared["prepared"] = pickle.load(stream)
    _shared["observer"] = _Reporter(news)


def _train(seed: int, folder: Path, resume: bool) -> None:
    train_seed(_shared["prepared"], seed, folder, resume, _shared["observer"])

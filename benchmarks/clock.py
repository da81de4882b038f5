"""Timing on a machine that others use too."""

from collections.abc import Callable
from statistics import median
from time import perf_counter


def medians(
    repeats: int,
    *jobs: Callable[[], object],
    warm: bool = False,
    clock: Callable[[], float] = perf_counter,
) -> list[float]:
    """Median seconds of each job after a warm-up, unless they are `warm` already.

    The jobs take turns, so that a busy moment of the machine falls on all of them alike.
    """
    for job in () if warm else jobs:
        job()
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(repeats):
        for job, spent in zip(jobs, times, strict=True):
            began = clock()
            job()
            spent.append(clock() - began)
    return [median(spent) for spent in times]

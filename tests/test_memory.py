"""Memory that is freed in training is kept until its end."""

import subprocess
import sys
from textwrap import dedent

import pytest

# In a process of its own: pages are counted by process, and the setting is one of the process.
PROGRAM = dedent(
    """
    import resource, sys
    from contextlib import nullcontext
    import torch
    from matchwork.memory import kept_memory

    def resident():
        return int(open("/proc/self/statm").read().split()[1])

    pages = 40 * 2**20 // resource.getpagesize()
    with kept_memory() if sys.argv[1] == "kept" else nullcontext():
        torch.ones(40 * 2**18)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(50):
            torch.ones(40 * 2**18)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        inside = resident()
    print(faults / pages, (inside - resident()) / pages)
    """
)


@pytest.mark.skipif(sys.platform != "linux", reason="it is glibc that gives memory back at once")
def test_freed_blocks_are_used_again_and_given_back_at_the_end() -> None:
    kept, plain = ([float(word) for word in _run(how).split()] for how in ("kept", "as it comes"))
    assert plain[0] > 45  # 50 times 40 MiB were asked for, and all of them were new
    assert kept[0] < plain[0] / 2  # 1 to 7, by how the heap is cut up
    assert kept[1] > 0.5 and plain[1] < 0.5  # what was kept is returned


def _run(how: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True
    )
    return done.stdout

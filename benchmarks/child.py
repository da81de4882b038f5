"""Run a command as a process of its own and say how long it took and how much memory it had.

`python -m benchmarks.child COMMAND…` is the small process in between: on Linux the peak of a
child counts from the size of the process that started it, which here may hold gigabytes.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
_MAXRSS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


class Finished(NamedTuple):
    """What a command took."""

    seconds: float
    peak_mib: float


def run(*command: str) -> Finished:
    """Run a command to its end; one that fails is an error with all it said."""
    launcher = [sys.executable, "-m", "benchmarks.child", *command]
    done = subprocess.run(launcher, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return Finished(*json.loads(done.stdout))


def python(*arguments: str) -> Finished:
    """The same for this Python."""
    return run(sys.executable, *arguments)


def _launch(command: list[str]) -> None:
    began = perf_counter()
    status = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    seconds = perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _MAXRSS_PER_MIB
    print(json.dumps([seconds, peak]))
    sys.exit(status)


if __name__ == "__main__":
    _launch(sys.argv[1:])

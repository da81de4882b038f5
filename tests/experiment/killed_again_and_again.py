"""Run a recipe as a whole, and again in processes that are killed at given moments.

`python killed_again_and_again.py RECIPE WHOLE KILLED MOMENT...` kills one child after another and
lets the last one finish; prints how many training steps were kept after every kill. A moment is
a fraction of the time that the whole run took, and counts by turns from the start of the child
and from its first checkpoint: a slow or busy machine is hit in the same places as a fast one.
The children are forks: the libraries are imported once, all else starts anew.
"""

import os
import signal
import sys
import time
from pathlib import Path

import torch

from matchwork.experiment import load_recipe, run_recipe


def checkpoint(out: Path) -> Path:
    return out / "seed-1" / "training" / "last.ckpt"


def written(out: Path) -> int:
    """When the checkpoint was written."""
    return checkpoint(out).stat().st_mtime_ns if checkpoint(out).exists() else 0


def steps_kept(out: Path) -> int:
    """How far the checkpoint on disk is; it must be whole at any moment."""
    path = checkpoint(out)
    if not path.exists():
        return 0
    return int(torch.load(path, weights_only=True)["state"]["step"])


def child(recipe: str, out: Path) -> int:
    process = os.fork()
    if process == 0:
        run_recipe(load_recipe(recipe), out, resume=True)
        os._exit(0)
    return process


def finish(recipe: str, out: Path) -> None:
    _, status = os.waitpid(child(recipe, out), 0)
    if status:
        sys.exit(f"the run in {out} ended with status {status}")


def main(recipe: str, whole: Path, out: Path, moments: list[float]) -> None:
    began = time.monotonic()
    finish(recipe, whole)
    length = time.monotonic() - began
    for number, moment in enumerate(moments):
        before = written(out)
        process = child(recipe, out)
        while number % 2 and written(out) == before:
            time.sleep(0.001)
        time.sleep(moment * length)
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if not os.WIFSIGNALED(status):
            sys.exit(f"a child ended by itself with status {status}")
        print(steps_kept(out))  # noqa: T201
    finish(recipe, out)


if __name__ == "__main__":
    folders = Path(sys.argv[2]), Path(sys.argv[3])
    main(sys.argv[1], *folders, [float(moment) for moment in sys.argv[4:]])

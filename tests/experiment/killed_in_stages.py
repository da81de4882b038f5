"""Run a recipe as a whole, and again in processes of which one is killed inside every stage.

`python killed_in_stages.py RECIPE WHOLE KILLED STAGE...` waits for a checkpoint of each stage in
turn ("" is the training of the whole model), kills the process there and starts another one; the
last one may finish. Prints how many steps of the stage were kept. The children are forks: the
libraries are imported once, all else starts anew.
"""

import os
import signal
import sys
import time
from pathlib import Path

import torch

from matchwork.experiment import load_recipe, run_recipe


def child(recipe: str, out: Path) -> int:
    process = os.fork()
    if process == 0:
        os.environ["MATCHWORK_STAGE_CACHE"] = str(
            out / "cache"
        )  # nothing is taken from the other run
        run_recipe(load_recipe(recipe), out, resume=True)
        os._exit(0)
    return process


def finish(recipe: str, out: Path) -> None:
    _, status = os.waitpid(child(recipe, out), 0)
    if status:
        sys.exit(f"the run in {out} ended with status {status}")


def kill_inside(recipe: str, out: Path, checkpoint: Path) -> int:
    """How many steps are kept; 0 if the stage was over before the blow."""
    process = child(recipe, out)
    while not checkpoint.exists():
        time.sleep(0.001)
    time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(f"a child ended by itself with status {status}")
    if not checkpoint.exists():
        return 0
    return int(torch.load(checkpoint, weights_only=True)["state"]["step"])


def main(recipe: str, whole: Path, out: Path, stages: list[str]) -> None:
    finish(recipe, whole)
    training = out / "seed-1" / "training"
    for stage in stages:
        place = training / "stages" / stage if stage else training
        print(kill_inside(recipe, out, place / "last.ckpt"))  # noqa: T201
    finish(recipe, out)


if __name__ == "__main__":
    folders = Path(sys.argv[2]), Path(sys.argv[3])
    main(sys.argv[1], *folders, sys.argv[4:])

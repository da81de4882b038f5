"""`matchwork train` in processes that are killed.

They are forks of a server that has done nothing but import what training needs: the libraries are
read once, all else starts anew.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import Popen

import torch

PATIENCE = 180  # seconds, for a machine that is busy with much else


def start(recipe: Path, out: Path, *options: str) -> BaseProcess:
    """Begin the run, or go on with it."""
    forks = get_context("forkserver")
    forks.set_forkserver_preload(["matchwork.experiment.runner.worker"])
    process = forks.Process(target=_train, args=(recipe, out, *options))
    process.start()
    return process


def finish(recipe: Path, out: Path) -> None:
    process = start(recipe, out)
    process.join(PATIENCE)
    assert process.exitcode == 0


def kill(process: BaseProcess) -> None:
    """As the system does when memory runs out; it must not have ended by itself."""
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def wait_for(condition: Callable[[], bool], process: BaseProcess | Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        alive = process.poll() is None if isinstance(process, Popen) else process.is_alive()
        assert alive and time.monotonic() < deadline
        time.sleep(0.001)


def steps_kept(checkpoint: Path) -> int:
    """How far the checkpoint on disk is, 0 where there is none; it must be whole at any moment."""
    if not checkpoint.exists():
        return 0
    return int(torch.load(checkpoint, weights_only=True)["state"]["step"])


def _train(recipe: Path, out: Path, *options: str) -> None:
    from typer.testing import CliRunner

    from matchwork.cli.main import app

    torch.set_num_threads(1)
    os.environ["MATCHWORK_STAGE_CACHE"] = str(out / "cache")  # nothing is taken from another run
    command = ["train", recipe, "--out", out, "--results", out / "results", "--quiet", *options]
    if out.exists():
        command.append("--resume")
    done = CliRunner().invoke(app, [str(word) for word in command])
    if done.exit_code:
        sys.exit(done.output)

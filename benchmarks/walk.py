"""Count the files of the package whose functions run during a command.

    python benchmarks/walk.py rank|train|rerank [--json]

`rank` is `matchwork rank` on a saved K-NRM, `train` is `matchwork train examples/faq.toml`,
`rerank` is one request to a service. Counting starts when the command line is imported (for the
service: when it is ready) and sees every thread. Module and class bodies do not count; functions
that run while a module is imported do. A *turn* is a call into a file that is already further down
the stack, past another file: the walk goes back up. Few files and no turns are easy to read.
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import matchwork

PACKAGE = Path(matchwork.__file__).parent
ROOT = PACKAGE.parent
QUERY = "who wrote hamlet"


class Walk:
    """Files in the order in which their functions first ran, and the turns between them."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.turns: dict[tuple[str, str], str] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record all calls of the block, in threads that start in it too."""
        threading.setprofile(self._record)
        sys.setprofile(self._record)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def clear(self) -> None:
        """Forget what was recorded so far."""
        self.files.clear()
        self.turns.clear()

    def copy(self) -> "Walk":
        """Return what was recorded so far."""
        walk = Walk()
        walk.files.update(self.files)
        walk.turns.update(self.turns)
        return walk

    def to_dict(self) -> dict[str, Any]:
        """Return counts and names for `--json`."""
        return {
            "num_files": len(self.files),
            "num_turns": len(self.turns),
            "files": list(self.files),
            "turns": [f"{caller} -> {callee}" for caller, callee in self.turns],
        }

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        name = _file(frame) if event == "call" else None
        if name is None:
            return
        self.files.setdefault(name, frame.f_code.co_name)
        above = list(_callers(frame))
        if above and above[0] != name and name in above:
            self.turns.setdefault((above[0], name), frame.f_code.co_name)


def _file(frame: FrameType) -> str | None:
    """Return the file of a function of the package; None for anything else."""
    code = frame.f_code
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    path = Path(code.co_filename)
    if not is_function or not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).as_posix()


def _callers(frame: FrameType) -> Iterator[str]:
    back = frame.f_back
    while back is not None:
        if (name := _file(back)) is not None:
            yield name
        back = back.f_back


def run_command(arguments: list[str]) -> Walk:
    """Walk through `matchwork ARGUMENTS`."""
    from matchwork.cli.main import app

    walk = Walk()
    with walk.recorded():
        app(arguments, prog_name="matchwork", standalone_mode=False)
    return walk


def rank(folder: Path) -> Walk:
    """Walk through `matchwork rank` on a saved K-NRM."""
    save_knrm(folder / "knrm")
    answers = ROOT / "examples/answers.txt"
    command = ["rank", str(folder / "knrm"), "--query", QUERY, "--documents", str(answers)]
    return _in_new_process(command)


def train(folder: Path) -> Walk:
    """Walk through `matchwork train examples/faq.toml`."""
    out, results = str(folder / "runs"), str(folder / "results")
    return _in_new_process(["train", "examples/faq.toml", "--out", out, "--results", results])


def rerank(folder: Path) -> Walk:
    """Walk through one `POST /rerank` to a service that is ready."""
    from starlette.testclient import TestClient

    from matchwork.serve import create_app

    save_knrm(folder / "knrm")
    documents = (ROOT / "examples/answers.txt").read_text(encoding="utf-8").splitlines()
    app = create_app([matchwork.load(folder / "knrm")])
    walk = Walk()
    with walk.recorded(), TestClient(app) as client:  # threads of the service are recorded, too
        walk.clear()
        client.post("/rerank", json={"query": QUERY, "texts": documents}).raise_for_status()
        return walk.copy()


def save_knrm(folder: Path) -> None:
    """Save an untrained K-NRM over the toy data."""
    matcher = matchwork.Matcher.build("knrm", matchwork.toy()["train"].texts, dim=50)
    matcher.save(folder)


def _in_new_process(command: list[str]) -> Walk:
    """Walk through a command where nothing but the command line is imported."""
    done = subprocess.run(
        [sys.executable, __file__, "--command", json.dumps(command)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    table = json.loads(done.stdout.splitlines()[-1])
    walk = Walk()
    walk.files = dict.fromkeys(table["files"], "")
    walk.turns = {tuple(turn.split(" -> ")): "" for turn in table["turns"]}
    return walk


WALKS: dict[str, Callable[[Path], Walk]] = {"rank": rank, "train": train, "rerank": rerank}


def main() -> None:
    """Print the files and turns of a walk."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("walk", choices=WALKS, nargs="?")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--command", help=argparse.SUPPRESS)  # in a process of its own
    arguments = parser.parse_args()
    if arguments.command:
        walk = run_command(json.loads(arguments.command))
        print(json.dumps(walk.to_dict()))
        return
    if arguments.walk is None:
        parser.error(f"name a walk: {', '.join(WALKS)}")
    with tempfile.TemporaryDirectory() as folder:
        walk = WALKS[arguments.walk](Path(folder))
    if arguments.json:
        print(json.dumps(walk.to_dict(), indent=2))
        return
    for name in walk.files:
        print(name)
    for caller, callee in walk.turns:
        print(f"turn: {caller} -> {callee}")
    print(f"{len(walk.files)} files, {len(walk.turns)} turns")


if __name__ == "__main__":
    main()

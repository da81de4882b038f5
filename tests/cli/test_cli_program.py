"""The program as the shell sees it: real processes, their exit codes and their streams."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import matchwork

PROGRAM = [sys.executable, "-m", "matchwork"]


def start(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", "MATCHWORK_DEBUG": "0", **environment},
        timeout=60,
    )


def test_version_and_help():
    assert start("--version").stdout == f"matchwork {matchwork.__version__}\n"
    done = start("--help")
    assert done.returncode == 0
    assert "Examples" in done.stdout and "evaluate" in done.stdout


def test_starting_imports_nothing_heavy():
    code = "import sys, matchwork.cli.main; print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_usage_error_is_one_line_on_stderr():
    done = start("data", "show", "toy", "--option", "pool=full")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "error: data set 'toy' has no option 'pool'; there are none\n"


def test_unknown_option_is_a_usage_error():
    done = start("rank", "--qeury", "x")
    assert done.returncode == 2 and "--query" in done.stderr


def test_debug_shows_the_traceback():
    for done in (
        start("--debug", "data", "show", "nope"),
        start("data", "show", "nope", MATCHWORK_DEBUG="1"),
    ):
        assert done.returncode == 1
        assert "Traceback" in done.stderr and "no data set is named 'nope'" in done.stderr


def test_json_is_alone_on_stdout(matcher_folder: Path, tmp_path: Path):
    (tmp_path / "texts.txt").write_text("a play by shakespeare\nbees make honey\n")
    done = start("rank", matcher_folder, "-q", "honey", "-d", tmp_path / "texts.txt", "--json")
    assert [hit["rank"] for hit in json.loads(done.stdout)] == [1, 2]
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("command", ["score", "data"])
def test_closed_pipe_is_left_quietly(matcher_folder: Path, tmp_path: Path, command: str):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("query\tdocument\n" + "who wrote\tthe play was written\n" * 5000)
    arguments = {
        "score": ["score", matcher_folder, pairs, "--out", "-"],
        "data": ["data", "list", "--json"],
    }[command]
    quoted = " ".join(map(str, [*PROGRAM, *arguments]))
    done = subprocess.run(
        ["bash", "-c", f"{quoted} | head -c 10"], capture_output=True, text=True, timeout=60
    )
    assert len(done.stdout) == 10
    assert "Traceback" not in done.stderr and "rror" not in done.stderr


def test_interrupt_leaves_with_130_and_no_output_file(matcher_folder: Path, tmp_path: Path):
    pipe, out = tmp_path / "pairs.tsv", tmp_path / "scores.tsv"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*PROGRAM, "score", matcher_folder, pipe, "--out", out],
        stderr=subprocess.PIPE,
        text=True,
        # A suite started in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with pipe.open("w") as stream:
        stream.write("query\tdocument\n" + "a\tb\n" * 30_000)
        stream.flush()
        deadline = time.monotonic() + 40
        while not list(tmp_path.glob(".scores.tsv*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in errors and "Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.tsv"]


def test_a_fault_of_ours_is_said_to_be_one():
    code = (
        "import sys; sys.argv = ['matchwork', 'data', 'list']\n"
        "import matchwork.cli.main as main, matchwork.data as data\n"
        "data.CATALOGUE = None\n"
        "main.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "fault of matchwork" in done.stderr and "TypeError" in done.stderr

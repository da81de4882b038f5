"""What cannot be served says so, before anything listens."""

import socket
import subprocess
import sys
from threading import Event

import pytest
from server_process import PROGRAM
from typer.testing import CliRunner

from matchwork.cli.main import app
from matchwork.errors import ConfigError, FolderError
from matchwork.rank import BM25
from matchwork.rank.candidate_bm25 import CandidateBM25
from matchwork.serve.opening import Source, open_source, parse_source


@pytest.fixture
def refused(monkeypatch, tmp_path):
    """`refused("bm25", ...)`: the message on stderr."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        result = CliRunner().invoke(app, ["serve", *map(str, arguments)])
        assert result.exit_code in (1, 2) and result.stdout == ""
        return result.stderr

    return call


def test_wrong_arguments(refused, tmp_path):
    assert "two models are named 'bm25'; name one with NAME=FOLDER" in refused("bm25", "bm25")
    assert "cannot read the API keys" in refused("bm25", "--api-key-file", "absent.txt")
    (tmp_path / "keys.txt").write_text("# none\n\n")
    assert "holds no API key" in refused("bm25", "--api-key-file", "keys.txt")
    assert "'int4' is not one of '32', 'bf16', 'int8'" in refused("bm25", "--precision", "int4")
    assert "max_wait_ms must lie" in refused("bm25", "--max-wait-ms", "50", "--deadline-ms", "9")
    assert "FOLDER or NAME=FOLDER, got '=x'" in refused("=x")
    assert "absent.tsv" in refused("bm25", "--port", "0", "--collection", "absent.tsv")
    (tmp_path / "odd.tsv").write_text("name\ttext\na\tb\n")
    assert "no such column" in refused("bm25", "--port", "0", "--collection", "odd.tsv")


def test_a_port_in_use(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused("bm25", "--port", port)
    assert f"cannot listen on 127.0.0.1 port {port}" in message
    assert "choose another --host or --port" in message


def test_a_folder_that_is_no_matcher(refused, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "empty" in refused("empty", "--port", "0")
    assert "nowhere: no such folder" in refused("x=nowhere", "--port", "0")


def test_workers_that_cannot_start_end_the_service(tmp_path):
    (tmp_path / "empty").mkdir()
    command = [*PROGRAM, "empty", "--port", "0", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    assert "a worker could not start" in done.stderr and "empty" in done.stderr


def test_the_extra_is_named_where_it_is_missing():
    code = "import sys; sys.modules['fastapi'] = None; from matchwork.cli.main import run; run()"
    command = [sys.executable, "-c", code, "serve", "bm25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "the service needs an extra: pip install 'matchwork[serve]'" in done.stderr


def test_names(folders, tmp_path):
    assert parse_source(str(folders["bag"])) == Source("bag", str(folders["bag"]))
    assert parse_source(f"mine={folders['bag']}") == Source("mine", str(folders["bag"]))
    assert parse_source("minilm-maxsim") == Source("minilm-maxsim", "minilm-maxsim")
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert parse_source(str(odd)) == Source("a=b", str(odd))


def test_both_kinds_of_bm25(tmp_path):
    index = BM25.fit(["red fox", "blue whale", "fox"])
    index.save(tmp_path / "index")
    opened = open_source(Source("x", str(tmp_path / "index")))
    assert isinstance(opened.scorer, BM25)
    pairs = [("fox", "a fox"), ("whale", "fox")]
    (scored,) = opened.score([pairs], Event())
    assert scored.scores.tolist() == index.score(pairs).tolist()
    assert isinstance(open_source(Source("x", "BM25")).scorer, CandidateBM25)


def test_int8_for_the_transformers_among_the_models(folders, bert_folder, caplog):
    sources = Source("words", str(folders["bag"])), Source("pieces", f"{bert_folder}-maxsim")
    opened = [open_source(source, "cpu", "int8") for source in sources]
    assert [each.matcher.precision for each in opened] == ["32", "int8"]
    assert caplog.messages == ["model 'words' keeps its 32 bits: int8 is for transformers"]


def test_precision_and_device(folders):
    source = Source("bag", str(folders["bag"]))
    full, half = (open_source(source, "cpu", each) for each in ("32", "bf16"))
    pairs = [("a red fox", "the fox is red"), ("a red fox", "a whale")]
    exact, rough = (each.score([pairs], Event())[0].scores for each in (full, half))
    assert rough == pytest.approx(exact, rel=0.05)
    with pytest.raises(ConfigError, match="no device 'warp'"):
        open_source(source, "warp")
    with pytest.raises(FolderError, match="no such folder"):
        open_source(Source("x", "no-such-model"))

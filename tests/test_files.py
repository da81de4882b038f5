import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from matchwork.errors import DataError, OutputError
from matchwork.files import (
    atomic_folder,
    atomic_write,
    read_json,
    user_cache,
    write_json,
    write_text,
)

OWN = ("old", "new", "first", "second", "half")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_writes_and_makes_folders(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b.txt", "été\r\n")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "été\r\n".encode()
    with atomic_write(tmp_path / "raw", "wb") as stream:
        stream.write(b"\x00\xff")
    assert (tmp_path / "raw").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a", "raw"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_text(tmp_path / "ours", "")
    with atomic_folder(tmp_path / "folder", OWN):
        pass
    (tmp_path / "plain_folder").mkdir()

    def mode(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    assert mode("ours") == mode("plain")
    assert mode("folder") == mode("plain_folder")


def test_the_old_file_stays_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with atomic_write(path) as stream:
        stream.write("new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, BrokenPipeError])
def test_an_error_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(error), atomic_write(path) as stream:
        stream.write("half")
        raise error
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(error), atomic_folder(path, OWN) as folder:
        (folder / "half").touch()
        raise error
    assert names(path) == ["old"]
    assert names(tmp_path) == ["folder"]


def test_a_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    for name in ("first", "second"):
        with atomic_folder(path, OWN) as folder:
            write_text(folder / name, "")
        assert names(path) == [name]
    assert names(tmp_path) == ["folder"]


def test_a_rename_that_fails_brings_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    replace = os.replace

    def refuse_new(source: Path, target: Path) -> None:
        if Path(source).suffix == ".part":
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_new)
    with (
        pytest.raises(OutputError, match="folder: Input/output error"),
        atomic_folder(path, OWN) as new,
    ):
        (new / "new").touch()
    assert names(path) == ["old"]
    assert names(tmp_path) == ["folder"]


def test_something_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="folder: it is a folder; name a file"):
        write_text(tmp_path / "folder", "")
    with (
        pytest.raises(OutputError, match="file: it is a file; name a folder"),
        atomic_folder(tmp_path / "file", OWN),
    ):
        pass
    with pytest.raises(OutputError, match=r"cannot write .*below: (Not a directory|File exists)"):
        write_text(tmp_path / "file" / "below", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match=r"Permission denied; check free space and permiss"):
            write_text(tmp_path / "file", "")
    finally:
        tmp_path.chmod(0o700)


def test_an_inner_error_names_the_folder_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught, atomic_folder(tmp_path / "wanted", OWN) as folder:
        (folder / "file").touch()
        write_text(folder / "file" / "below", "")
    assert f"cannot write {tmp_path / 'wanted'}: " in str(caught.value)
    assert ".part" not in str(caught.value)


FULL_DISK = """
import resource, signal, sys
from matchwork.errors import OutputError
from matchwork.files import write_text
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    write_text(sys.argv[1], "x" * 1_000_000)
except OutputError as error:
    sys.exit(f"OutputError: {error}")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
@pytest.mark.parametrize("old", [None, "old"])
def test_a_full_disk_in_the_middle_of_writing(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "file.txt"
    if old:
        path.write_text(old)
    before = names(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"OutputError: cannot write {path}: File too large; check free space" in done.stderr
    assert names(tmp_path) == before
    assert old is None or path.read_text() == old


def test_json_round_trip(tmp_path: Path) -> None:
    value = {"é": [1, 2.5, None], "nested": {"a": True}}
    write_json(tmp_path / "v.json", value)
    assert read_json(tmp_path / "v.json") == value
    assert "é" in (tmp_path / "v.json").read_text(encoding="utf-8")


def test_json_holds_numbers_only_where_numbers_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "v.json", {"loss": float("nan")})
    assert names(tmp_path) == []


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    path.write_text('{\n  "a": 1,\n  oops\n}')
    with pytest.raises(DataError, match=r"v\.json, line 3: not valid JSON"):
        read_json(path)
    path.write_bytes(json.dumps({"a": "é"}, ensure_ascii=False).encode("latin-1"))
    with pytest.raises(DataError, match=r"v\.json: not UTF-8"):
        read_json(path)
    with pytest.raises(DataError, match=r"none\.json: cannot read: No such file"):
        read_json(tmp_path / "none.json")


def test_cache_folder_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "matchwork"
    assert not user_cache().exists()

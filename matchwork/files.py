"""Writing files so that a reader never sees half of one: write beside, then rename."""

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from matchwork.errors import DataError, OutputError


def user_cache() -> Path:
    """Where this platform's users keep what can be made again; not created here."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "matchwork"


def _explain(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(
        f"cannot write {path}: {reason}; check free space and permissions of {path.parent}. "
        "Nothing was left half-written."
    )


@contextmanager
def write_beside(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that takes the place of `path` only when the block ends without an error."""
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder; name a file")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        encoding = None if "b" in mode else "utf-8"
        newline = None if "b" in mode else ""
        with os.fdopen(handle, mode, encoding=encoding, newline=newline) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise _explain(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def folder_beside(path: str | Path, own_files: Collection[str]) -> Iterator[Path]:
    """A new folder that takes the place of `path` only when the block ends without an error.

    The old folder goes as a whole, so one that holds anything but `own_files` is refused.
    """
    path = Path(path)
    temporary: Path | None = None
    _refuse_strangers(path, own_files)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            raise OutputError(f"cannot write {path}: it is a file; name a folder")
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        if path.exists():
            old = temporary.with_suffix(".old")
            os.replace(path, old)
            try:
                os.replace(temporary, path)
            except OSError:
                os.replace(old, path)
                raise
            shutil.rmtree(old)
        else:
            os.replace(temporary, path)
    except OSError as error:
        raise _explain(path, error) from error
    except OutputError as error:
        if isinstance(error.__cause__, OSError):  # name the folder asked for, not the one beside
            raise _explain(path, error.__cause__) from error
        raise
    finally:
        if temporary is not None and temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)


def _refuse_strangers(folder: Path, own_files: Collection[str]) -> None:
    if not folder.is_dir():
        return
    strangers = sorted(entry.name for entry in folder.iterdir() if entry.name not in own_files)
    if strangers:
        raise OutputError(
            f"cannot save as {folder}: the folder holds other files ({strangers[0]}) that would "
            "be lost; name a new folder"
        )


def remove_leftovers(folder: str | Path) -> None:
    """Delete what a killed process left of files it was writing beside their place."""
    for part in Path(folder).glob(".*.part"):
        part.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, all of it or nothing."""
    with write_beside(path) as stream:
        stream.write(text)


def write_json(path: str | Path, value: object) -> None:
    """Write `value` as indented JSON, all of it or nothing."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a broken one is a `DataError` that names the line."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON ({error.msg})", path=path, line=error.lineno) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", path=path) from error
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror}", path=path) from error

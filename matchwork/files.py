"""Files: read line by line or as JSON, and written atomically (renamed when complete)."""

import gzip
import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from matchwork.errors import DataError, OutputError

_BUFFER = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def user_cache() -> Path:
    """Return the cache folder of the user; it may not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "matchwork"


def _write_error(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(
        f"cannot write {path}: {reason}; check free space and permissions of {path.parent}. "
        "Nothing was left half-written."
    )


@contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file ("w" is UTF-8) that replaces `path` if the block succeeds."""
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder; name a file")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        options: Any = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(handle, mode, **options) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _write_error(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path, own_files: Collection[str]) -> Iterator[Path]:
    """Create a temporary folder that replaces `path` if the block succeeds.

    An existing folder is deleted, but refused if it holds files other than `own_files`.
    """
    path = Path(path)
    temporary: Path | None = None
    others = sorted({e.name for e in path.iterdir()} - {*own_files}) if path.is_dir() else []
    if others:
        raise OutputError(
            f"cannot save as {path}: the folder holds other files ({others[0]}) that would "
            "be lost; name a new folder"
        )
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
        raise _write_error(path, error) from error
    except OutputError as error:
        if isinstance(error.__cause__, OSError):  # name `path`, not the temporary folder
            raise _write_error(path, error.__cause__) from error
        raise
    finally:
        if temporary is not None and temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)


def remove_leftovers(folder: str | Path) -> None:
    """Delete temporary files that a killed process left in a folder."""
    for part in Path(folder).glob(".*.part"):
        part.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8, atomically."""
    with atomic_write(path) as stream:
        stream.write(text)


def write_json(path: str | Path, value: object) -> None:
    """Write a value as indented JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON ({error.msg})", path=path, line=error.lineno) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})", path=path) from error
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror}", path=path) from error


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a UTF-8 file, decompressing `.gz`."""
    line = 0
    try:
        with _open(Path(path)) as stream:
            for line, raw in enumerate(stream, start=1):
                if line == 1:
                    raw = raw.removeprefix(_BYTE_ORDER_MARK)
                yield line, raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start + 1} (0x{error.object[error.start]:02x}) is not UTF-8; "
            "convert the file to UTF-8",
            path=path,
            line=line,
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"the gzip data is damaged or cut short after line {line} ({error}); "
            "copy or download the file again",
            path=path,
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str | Path, error: OSError) -> DataError:
    """Return the error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return DataError("no such file", path=path)
    return DataError(f"cannot read: {error.strerror or error}", path=path)


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, io.BufferedReader(gzip.open(path, "rb"), _BUFFER))
    return open(path, "rb", buffering=_BUFFER)

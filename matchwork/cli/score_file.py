"""Write TSV, CSV, JSONL or Parquet tables window by window, atomically."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from matchwork.errors import ConfigError, DataError
from matchwork.files import atomic_write

Row: TypeAlias = Sequence[str | int | float | None]
Write: TypeAlias = Callable[[list[Row]], None]

STDOUT = "-"
_KINDS = {"row": "int64", "label": "int64", "class": "int64", "score": "float64"}
_SEPARATORS = str.maketrans("\t\n\r", "   ")


@contextmanager
def open_table(path: str, names: Sequence[str]) -> Iterator[Write]:
    """Yield a function that appends rows; the file appears if the block ends without an error."""
    format = "tsv" if path == STDOUT else _format(path)
    with ExitStack() as stack:
        if format == "parquet":
            yield _parquet(stack, stack.enter_context(atomic_write(path, "wb")), names)
        else:
            yield _WRITERS[format](_text_stream(stack, path), names)


def _format(path: str) -> str:
    from matchwork.data.tables import format_of

    try:
        return format_of(Path(path))
    except DataError as error:
        raise ConfigError(f"--out {path}: {error}") from error


def _text_stream(stack: ExitStack, path: str) -> IO[str]:
    if path == STDOUT:
        return sys.stdout
    if not path.endswith(".gz"):
        stream: IO[str] = stack.enter_context(atomic_write(path))
        return stream
    raw = stack.enter_context(atomic_write(path, "wb"))
    # No time stamp: the same scores give the same bytes.
    packed = gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0, compresslevel=6)
    stack.enter_context(packed)
    return stack.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline=""))


def _tsv(stream: IO[str], names: Sequence[str]) -> Write:
    """Write TSV without quotes, as our reader expects it; tabs and line breaks become spaces."""

    def write(rows: list[Row]) -> None:
        stream.writelines("\t".join(map(_cell, row)) + "\n" for row in rows)

    write([names])
    return write


def _cell(value: str | int | float | None) -> str:
    if isinstance(value, str):
        return value.translate(_SEPARATORS)
    return "" if value is None else repr(value)


def _csv(stream: IO[str], names: Sequence[str]) -> Write:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    return writer.writerows


def _jsonl(stream: IO[str], names: Sequence[str]) -> Write:
    def write(rows: list[Row]) -> None:
        stream.writelines(
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"
            for row in rows
        )

    return write


def _kind(name: str) -> str:
    return "float64" if name.startswith("probability") else _KINDS.get(name, "string")


def _parquet(stack: ExitStack, stream: IO[Any], names: Sequence[str]) -> Write:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    types = [arrow.type_for_alias(_kind(name)) for name in names]
    schema = arrow.schema(list(zip(names, types, strict=True)))
    writer = stack.enter_context(parquet.ParquetWriter(stream, schema))

    def write(rows: list[Row]) -> None:
        columns = [
            arrow.array(column, kind)
            for column, kind in zip(zip(*rows, strict=True), types, strict=True)
        ]
        writer.write_table(arrow.Table.from_arrays(columns, schema=schema))

    return write


_WRITERS: Mapping[str, Callable[[IO[str], Sequence[str]], Write]] = {
    "tsv": _tsv,
    "csv": _csv,
    "jsonl": _jsonl,
}

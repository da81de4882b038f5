"""Tables in TSV, CSV, JSONL and Parquet files, streamed, with the line in every error.

TSV has no quoting (texts hold raw `"`), CSV has standard quoting. Files ending in `.gz` are
decompressed while they are read. At most one batch of rows is in memory. A further format is
registered with `FORMATS.add(suffix, TableFormat(...))`.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

from matchwork.errors import DataError
from matchwork.files import numbered_lines, unreadable
from matchwork.registry import Registry, did_you_mean

Rows: TypeAlias = Iterator[tuple[int, tuple[object, ...]]]

_BATCH_ROWS = 1024


class Table(NamedTuple):
    """A file's column names, and `select`, which yields line (or row) numbers with some columns."""

    names: list[str]
    select: Callable[[Sequence[str]], Rows]


@dataclass(frozen=True)
class TableFormat:
    """A file format of tables; its name in `FORMATS` is the suffix of its files.

    Args:
        open: Opens a file whose first row (JSONL: first object) names the columns.
        may_be_gzipped: Whether `.gz` may follow the suffix.
    """

    open: Callable[[Path], Table]
    may_be_gzipped: bool = True


FORMATS: Registry[TableFormat] = Registry("table format")


def read_table(path: str | Path, format: str | None = None) -> Table:
    """Open a table of a format in `FORMATS`; by default the suffix decides."""
    path = Path(path)
    format = format or format_of(path)
    if format not in FORMATS:
        raise DataError(f"no format {format!r}; {did_you_mean(format, FORMATS)}", path=path)
    return FORMATS[format].open(path)


def format_of(path: Path) -> str:
    """Return the format that the suffix of a file stands for."""
    gzipped = path.suffix == ".gz"
    suffix = path.with_suffix("").suffix if gzipped else path.suffix
    name = suffix.removeprefix(".").lower()
    if name not in FORMATS or (gzipped and not FORMATS[name].may_be_gzipped):
        raise DataError(
            f"cannot tell the format from the suffix {''.join(path.suffixes)!r}; name the file "
            ".tsv, .csv, .jsonl (each also .gz) or .parquet, or pass format=",
            path=path,
        )
    return name


def find_table(folder: Path, stem: str) -> Path | None:
    """Return the file `stem` of a folder in any format, None without one; TSV comes first."""
    formats = sorted(FORMATS, key=lambda name: name != "tsv")
    gzipped = [f"{name}.gz" for name in formats if FORMATS[name].may_be_gzipped]
    paths = (folder / f"{stem}.{suffix}" for suffix in (*formats, *gzipped))
    return next(filter(Path.is_file, paths), None)


def need_table(folder: Path, stem: str) -> Path:
    """Return the file `stem` of a folder in any format; raise DataError without one."""
    path = find_table(folder, stem)
    if path is None:
        raise DataError(f"no file {stem}.tsv, .csv, .jsonl (also .gz) or .parquet", path=folder)
    return path


def tab_separated(
    path: str | Path, num_fields: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of lines not blank, all with `num_fields` or as many as the first."""
    rows = ((line, text.split("\t")) for line, text in numbered_lines(path) if text)
    return _equally_long(path, rows, num_fields)


def quoted(path: str | Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each CSV record; records may span several lines."""
    return _equally_long(path, _records(path, delimiter))


def _records(path: str | Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # The csv module's default limit of 128 KiB a field (process-wide) is too small for books.
    csv.field_size_limit(sys.maxsize)
    lines = (f"{text}\n" for _, text in numbered_lines(path))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"broken CSV quoting ({error})", path=path, line=line) from error


def _equally_long(
    path: str | Path, rows: Iterator[tuple[int, list[str]]], num_fields: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    for line, fields in rows:
        if len(fields) != num_fields:
            if num_fields is not None:
                raise DataError(
                    f"expected {num_fields} fields, found {len(fields)}; "
                    "a text must not hold the separator itself",
                    path=path,
                    line=line,
                )
            num_fields = len(fields)
        yield line, fields


def with_header(path: Path, rows: Iterator[tuple[int, list[str]]]) -> Table:
    """Make a table of rows, the first of which names the columns."""
    names = next(rows, (0, None))[1]
    if names is None:
        raise _empty(path)
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise DataError(f"column names are not unique: {sorted(repeated)}", path=path, line=1)

    def select(wanted: Sequence[str]) -> Rows:
        pick = _picker([names.index(name) for name in wanted])
        return ((line, pick(fields)) for line, fields in rows)

    return Table(names, select)


def _picker(indices: Sequence[int]) -> Callable[[list[str]], tuple[object, ...]]:
    if len(indices) == 1:
        only = indices[0]
        return lambda fields: (fields[only],)
    return itemgetter(*indices)


def _json_lines(path: Path) -> Table:
    records = _json_records(path)
    first = next(records, None)
    if first is None:
        raise _empty(path)

    def select(wanted: Sequence[str]) -> Rows:
        yield first[0], tuple(map(first[1].get, wanted))
        for line, record in records:
            yield line, tuple(map(record.get, wanted))

    return Table(list(first[1]), select)


def _json_records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for line, text in numbered_lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(
                f"not valid JSON ({error.msg} at character {error.colno})", path=path, line=line
            ) from error
        if not isinstance(record, dict):
            raise DataError(
                f"expected one JSON object a line, found {text[:60]!r}", path=path, line=line
            )
        yield line, record


def _parquet(path: Path) -> Table:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
    except OSError as error:
        raise unreadable(path, error) from error
    except arrow.ArrowInvalid as error:
        raise DataError(f"not a Parquet file ({error})", path=path) from error

    def select(wanted: Sequence[str]) -> Rows:
        rows = count(1)
        try:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=list(wanted)):
                    columns = [batch.column(name).to_pylist() for name in wanted]
                    yield from zip(rows, zip(*columns, strict=True), strict=False)
        except (OSError, arrow.ArrowInvalid) as error:
            raise DataError(f"damaged near row {next(rows)} ({error})", path=path) from error

    return Table(names, select)


def _empty(path: Path) -> DataError:
    return DataError("the file is empty; its first line must name the columns", path=path)


FORMATS.add("tsv", TableFormat(lambda path: with_header(path, tab_separated(path))))
FORMATS.add("csv", TableFormat(lambda path: with_header(path, quoted(path, ","))))
FORMATS.add("jsonl", TableFormat(_json_lines))
FORMATS.add("parquet", TableFormat(_parquet, may_be_gzipped=False))

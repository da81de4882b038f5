"""Read and write TREC judgements (`qrels`) and rankings (`run`)."""

import gzip
import io
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from matchwork.errors import DataError
from matchwork.files import atomic_write, numbered_lines
from matchwork.ordering import order
from matchwork.types import Qrels, Run

Value = TypeVar("Value", int, float)


def read_qrels(path: str | Path) -> Qrels:
    """Read judgements from lines `query 0 document grade`; negative grades are kept."""
    layout = "query 0 document grade"
    return _read(path, layout, "grade", int, "a whole number", "judgements")


def read_run(path: str | Path) -> Run:
    """Read scores from lines `query Q0 document rank score tag`; the rank is ignored."""
    layout = "query Q0 document rank score tag"
    return _read(path, layout, "score", _finite, "a finite number", "ranking")


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Write judgements atomically; a name ending in `.gz` is compressed."""
    _check_ids(qrels)
    with _write_lines(path) as stream:
        for query_id, grades in qrels.items():
            stream.writelines(
                f"{query_id} 0 {document_id} {grade}\n" for document_id, grade in grades.items()
            )


def write_run(path: str | Path, run: Run, tag: str = "matchwork") -> None:
    """Write rankings from best to worst (ties as given), atomically; `.gz` is compressed."""
    _check_ids(run)
    if len(tag.split()) != 1:
        raise DataError(f"a run's tag is one word, got {tag!r}")
    with _write_lines(path) as stream:
        for query_id, scores in run.items():
            document_ids = list(scores)
            best_first = order([scores[document_id] for document_id in document_ids])
            for rank, position in enumerate(best_first.tolist(), start=1):
                document_id = document_ids[position]
                score = float(scores[document_id])
                stream.write(f"{query_id} Q0 {document_id} {rank} {score!r} {tag}\n")


def _read(
    path: str | Path,
    layout: str,
    column: str,
    parse: Callable[[str], Value],
    expected: str,
    contents: str,
) -> dict[str, dict[str, Value]]:
    """Read the values of a column by query and document."""
    names = layout.split()
    table: dict[str, dict[str, Value]] = {}
    for line, text in numbered_lines(path):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != len(names):
            message = f"expected {len(names)} fields ({layout}), found {len(fields)}: {text[:60]!r}"
            raise DataError(message, path=path, line=line)
        query_id, document_id, cell = fields[0], fields[2], fields[names.index(column)]
        try:
            value = parse(cell)
        except ValueError:
            message = f"expected {expected}, found {cell!r}"
            raise DataError(message, path=path, line=line, column=column) from None
        row = table.setdefault(query_id, {})
        if document_id in row:
            raise DataError(
                f"document {document_id!r} is listed twice for query {query_id!r} "
                f"({row[document_id]} and {value})",
                path=path,
                line=line,
            )
        row[document_id] = value
    if not table:
        raise DataError(f"the file holds no {contents}", path=path)
    return table


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _check_ids(table: dict[str, dict[str, Any]]) -> None:
    for id in chain(table, chain.from_iterable(table.values())):
        if len(id.split()) != 1:
            raise DataError(f"TREC files cannot hold the id {id!r}: it is empty or has spaces")


@contextmanager
def _write_lines(path: str | Path) -> Iterator[IO[str]]:
    if Path(path).suffix != ".gz":
        with atomic_write(path) as stream:
            yield cast(IO[str], stream)
        return
    with (
        atomic_write(path, "wb") as raw,
        # No time stamp: equal rankings give equal bytes.
        gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as lines,
    ):
        yield lines

"""`matchwork score`: add scores to a pair file of any size."""

import csv
import gzip
import io
import json as to_json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

import matchwork
from matchwork.cli import show
from matchwork.cli.options import OPENED_HELP, ColumnNames, Json, Precision, examples, read_columns
from matchwork.errors import ConfigError, DataError
from matchwork.files import atomic_write

if TYPE_CHECKING:
    from matchwork.data import PairRow
    from matchwork.inputs import Truncation
    from matchwork.matcher import Matcher
    from matchwork.rank import BM25
    from matchwork.types import Advance, TextPair

EXAMPLES = examples(
    "matchwork score MATCHER pairs.tsv --out scored.tsv",
    "matchwork score MATCHER pairs.parquet --out scored.parquet --probability",
    "matchwork score MATCHER pairs.jsonl --out classes.jsonl --class",
    "matchwork score MATCHER pairs.csv --columns query=title,document=body --out - | head",
)
Row: TypeAlias = Sequence[str | int | float | None]
Write: TypeAlias = Callable[[list[Row]], None]
STDOUT = "-"
_KINDS = {"row": "int64", "label": "int64", "class": "int64", "score": "float64"}
_SEPARATORS = str.maketrans("\t\n\r", "   ")
_COPIED = ("query_id", "document_id", "query", "document", "label")


def score(
    matcher: Annotated[str, typer.Argument(help=OPENED_HELP)],
    pairs: Annotated[
        Path, typer.Argument(help="Pair file: .tsv, .csv, .jsonl (each also .gz) or .parquet.")
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE|-",
            help="Where to write; the suffix decides the format, - is TSV on stdout.",
        ),
    ],
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Add the calibrated probability of a match; of more than two classes, of each.",
        ),
    ] = False,
    class_: Annotated[
        bool, typer.Option("--class", help="Add the likeliest class (of two: 1 is a match).")
    ] = False,
    columns: ColumnNames = None,
    precision: Precision = "32",
    json: Json = False,
) -> None:
    """Score every pair of a file, in constant memory however long it is.

    The output is again a pair file: the row number, the ids and labels that the file has, both
    texts, and the score; `label` is what the file says, `class` what the matcher does.
    """
    from matchwork.cli.progress import counting
    from matchwork.inputs import recorded_truncation

    if json and out == STDOUT:
        raise ConfigError("--json and --out - both want stdout; write the scores to a file")
    rows, copied = _open_pairs(pairs, columns)
    results = _Results(_open(matcher, precision), probability, class_)
    names = ["row", *copied, *results.names]
    began, num_rows = time.monotonic(), 0
    with (
        recorded_truncation() as cut,
        open_table(out, names) as write,
        counting("rows") as advance,
    ):
        for part in _scored(results, rows, copied, advance):
            write(part)
            num_rows += len(part)
    _print_summary(cut.total, num_rows, time.monotonic() - began, out, json)


def _open(name: str, precision: Precision) -> "Matcher | BM25":
    from matchwork.matcher.opening import is_bm25

    if is_bm25(name):
        raise ConfigError(
            "bm25 alone has no word statistics for a file of pairs; save an index with "
            "matchwork.BM25.fit(TEXTS).save(FOLDER) and name the folder"
        )
    with show.working(f"opening {name}"):
        return cast("Matcher | BM25", matchwork.load(name, precision=precision))


def _open_pairs(path: Path, column_names: str | None) -> tuple[Iterator["PairRow"], list[str]]:
    """Return the rows and the names of the columns that they have."""
    from matchwork.data import read_pairs

    rows = read_pairs(path, read_columns(column_names), require_label=False)
    first = next(rows)  # a file without rows is an error of the reader
    copied = [name for name in _COPIED if getattr(first, name) is not None]
    return chain([first], rows), copied


class _Results:
    """The columns that are added to each pair."""

    def __init__(self, scorer: "Matcher | BM25", probability: bool, class_: bool) -> None:
        self.scorer, self.probability, self.class_ = scorer, probability, class_
        num_classes = getattr(scorer, "num_classes", 2)
        self.multiclass = num_classes > 2
        if (probability or class_) and not (
            self.multiclass or getattr(scorer, "calibration", None)
        ):
            raise ConfigError(
                f"{scorer.name} gives no probabilities: it was not calibrated; train a matcher "
                "with a dev split"
            )
        self.shown = range(num_classes) if self.multiclass else [1]
        titles = [
            f"probability_{label}" if self.multiclass else "probability" for label in self.shown
        ]
        self.names = ["score", *(titles if probability else []), *(["class"] if class_ else [])]

    def stream(
        self, texts: Iterator["TextPair"], advance: "Advance"
    ) -> Iterator[list[list[float | int]]]:
        """Yield the new columns, a window of pairs at a time."""
        if len(self.names) == 1:
            for scores in self.scorer.score_stream(texts, advance=advance):
                yield [scores.tolist()]
            return
        matcher = cast("Matcher", self.scorer)
        for scores, classes in matcher.classify_stream(texts, advance=advance):
            columns = [scores.tolist()]
            if self.probability:
                columns += [classes[:, label].tolist() for label in self.shown]
            if self.class_:
                chosen = classes.argmax(axis=1) if self.multiclass else classes[:, 1] >= 0.5
                columns.append(chosen.astype(int).tolist())
            yield columns


def _scored(
    results: _Results,
    rows: Iterator["PairRow"],
    copied: list[str],
    advance: "Advance",
) -> Iterator[list[Row]]:
    """Yield output rows window by window; one window of texts is in memory."""
    numbers, fields = count(1), attrgetter(*copied)
    window: list[PairRow] = []

    def texts() -> Iterator["TextPair"]:
        for row in rows:
            window.append(row)
            yield row.query, row.document

    for added in results.stream(texts(), advance):
        yield [
            (next(numbers), *fields(row), *values)
            for row, *values in zip(window, *added, strict=True)
        ]
        window.clear()


def _print_summary(cut: "Truncation", num_rows: int, seconds: float, out: str, json: bool) -> None:
    if json:
        show.as_json(
            {
                "rows": num_rows,
                "out": out,
                "seconds": round(seconds, 3),
                "rows_per_second": round(num_rows / seconds, 1),
                "cut_texts": cut.texts,
                "cut_tokens": cut.tokens,
            }
        )
        return
    said = show.note if out == STDOUT else show.line
    said(f"{num_rows:,} rows in {seconds:.1f} s ({num_rows / seconds:,.0f} a second)")
    if cut.texts:
        said(str(cut))
    if out != STDOUT:
        said(f"scores   {out}")


@contextmanager
def open_table(path: str, names: Sequence[str]) -> Iterator[Write]:
    """Yield a function that appends rows to a TSV, CSV, JSONL or Parquet file.

    The file appears when the block ends without an error.
    """
    format = "tsv" if path == STDOUT else _format(path)
    with ExitStack() as stack:
        if format == "parquet":
            yield _parquet(stack, stack.enter_context(atomic_write(path, "wb")), names)
        else:
            writer = {"tsv": _tsv, "csv": _csv, "jsonl": _jsonl}[format]
            yield writer(_text_stream(stack, path), names)


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
    """No quoting, as our reader expects it: a tab or line break in a text becomes a space."""

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
            to_json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"
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

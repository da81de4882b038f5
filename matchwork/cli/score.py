"""`matchwork score`: a pair file of any size in, the same pairs with their scores out."""

import time
from collections.abc import Iterator
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matchwork.cli import show
from matchwork.cli.options import ColumnNames, Json, columns, examples
from matchwork.cli.score_file import STDOUT, Row, open_table
from matchwork.cli.scorers import open_matcher
from matchwork.errors import ConfigError

if TYPE_CHECKING:
    from matchwork.cli.progress import Advance
    from matchwork.data import PairRow
    from matchwork.rank import Calibration, Matcher
    from matchwork.types import TextPair

EXAMPLES = examples(
    "matchwork score MATCHER pairs.tsv --out scored.tsv",
    "matchwork score MATCHER pairs.parquet --out scored.parquet --probability",
    "matchwork score MATCHER pairs.csv --columns query=title,document=body --out - | head",
)
_COPIED = ("query_id", "document_id", "query", "document", "label")


def score(
    matcher: Annotated[str, typer.Argument(help="Folder of a saved matcher.")],
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
        bool, typer.Option("--probability", help="Add the calibrated probability of a match.")
    ] = False,
    columns: ColumnNames = None,
    json: Json = False,
) -> None:
    """Score every pair of a file, in constant memory however long it is.

    The output is again a pair file: the row number, the ids and labels that the file has, both
    texts, and the score.
    """
    from matchwork.cli.progress import counting

    if json and out == STDOUT:
        raise ConfigError("--json and --out - both want stdout; write the scores to a file")
    rows, copied = _open_pairs(pairs, columns)
    opened = open_matcher(matcher)
    if probability and opened.calibration is None:
        raise ConfigError(
            f"{matcher} gives no probabilities: it was not calibrated; train it with a dev split"
        )
    names = ["row", *copied, "score", *(["probability"] if probability else [])]
    began, num_rows = time.monotonic(), 0
    with open_table(out, names) as write, counting("rows") as advance:
        calibration = opened.calibration if probability else None
        for part in _scored(opened, rows, copied, calibration, advance):
            write(part)
            num_rows += len(part)
    _print_summary(opened, num_rows, time.monotonic() - began, out, json)


def _open_pairs(path: Path, column_names: str | None) -> tuple[Iterator["PairRow"], list[str]]:
    """The rows, and which columns they have."""
    from matchwork.data import read_pairs

    rows = read_pairs(path, columns(column_names), require_label=False)
    first = next(rows)  # a file without rows is an error of the reader
    copied = [name for name in _COPIED if getattr(first, name) is not None]
    return chain([first], rows), copied


def _scored(
    matcher: "Matcher",
    rows: Iterator["PairRow"],
    copied: list[str],
    calibration: "Calibration | None",
    advance: "Advance",
) -> Iterator[list[Row]]:
    """Windows of output rows; only one window of texts is ever held."""
    numbers, fields = count(1), attrgetter(*copied)
    window: list[PairRow] = []

    def texts() -> Iterator["TextPair"]:
        for row in rows:
            window.append(row)
            yield row.query, row.document

    for scores in matcher.score_stream(texts(), progress=advance):
        results = [scores.tolist()]
        if calibration is not None:
            results.append(calibration.probability(scores).tolist())
        yield [
            (next(numbers), *fields(row), *values)
            for row, *values in zip(window, *results, strict=True)
        ]
        window.clear()


def _print_summary(matcher: "Matcher", num_rows: int, seconds: float, out: str, json: bool) -> None:
    cut = matcher.truncation
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
        said(f"{cut.texts:,} texts were too long and lost {cut.tokens:,} tokens")
    if out != STDOUT:
        said(f"scores   {out}")

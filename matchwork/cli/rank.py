"""`matchwork rank`: one query, many documents, best first."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import matchwork
from matchwork.cli import show
from matchwork.cli.options import MATCHER_HELP, ColumnNames, Json, Precision, examples, read_columns
from matchwork.errors import DataError
from matchwork.files import numbered_lines
from matchwork.report.numbers import Cell, shortened

if TYPE_CHECKING:
    from matchwork.types import Document, Ranked

EXAMPLES = examples(
    "matchwork rank runs/wikiqa/iasm-dynamic/seed-1/matcher --query 'who wrote hamlet' "
    "--documents answers.txt",
    "matchwork rank minilm-maxsim --query 'how high is it' --documents notes.txt --precision int8",
    "matchwork rank bm25 --query 'heat transfer' --documents corpus.jsonl --top-k 5 --json",
    "matchwork rank MATCHER --query TEXT --documents texts.txt --threshold 0.5",
    "grep -i hamlet notes.txt | matchwork rank MATCHER --query 'who wrote it' --documents -",
)


def rank(
    matcher: Annotated[str, typer.Argument(help=MATCHER_HELP + " (fitted on the documents)")],
    query: Annotated[str, typer.Option("--query", "-q", help="What to look for.")],
    documents: Annotated[
        str,
        typer.Option(
            "--documents",
            "-d",
            metavar="FILE|-",
            help="One text a line, or a .tsv, .csv, .jsonl or .parquet file with a column of "
            "texts (and of ids); - reads lines from stdin.",
        ),
    ],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many to print.")] = 10,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Only documents that match with this probability or a higher one."
        ),
    ] = None,
    columns: ColumnNames = None,
    precision: Precision = "32",
    json: Json = False,
) -> None:
    """Order documents by how well they match a query."""
    texts = _read(documents, columns)
    with show.working(f"opening {matcher}"):
        scorer = matchwork.load(matcher, precision=precision)
    with show.cuts(), show.working(f"ranking {len(texts):,} documents"):
        ranking = scorer.rerank(query, texts, top_k, threshold)
    if json:
        show.as_json([_as_json(line) for line in ranking])
        return
    columns_shown: dict[str, list[Cell]] = {
        "rank": [line.rank for line in ranking],
        "score": [line.score for line in ranking],
        "probability": [line.probability for line in ranking],
        "id": [line.document.id for line in ranking],
        "document": [shortened(line.document.text, 300) for line in ranking],
    }
    if getattr(scorer, "calibration", None) is None:
        del columns_shown["probability"]
    title = f"{len(ranking)} of {len(texts):,} documents by {scorer.name}"
    show.table(list(columns_shown), list(zip(*columns_shown.values(), strict=True)), title=title)


def _as_json(line: "Ranked") -> dict[str, object]:
    return {
        "rank": line.rank,
        "score": line.score,
        "probability": line.probability,
        "id": line.document.id,
        "text": line.document.text,
    }


def _read(source: str, column_names: str | None) -> "list[Document]":
    """Read documents; those without an id are named by their line."""
    from matchwork.types import Document

    if source == "-":
        lines = list(enumerate((text.rstrip("\r\n") for text in sys.stdin), start=1))
    elif _is_table(Path(source)):
        return _read_table(Path(source), column_names)
    else:
        lines = list(numbered_lines(source))
    documents = [Document(str(line), text) for line, text in lines if text.strip()]
    if not documents:
        raise DataError(
            "no documents: give one text a line", path="stdin" if source == "-" else source
        )
    return documents


def _is_table(path: Path) -> bool:
    suffixes = {*path.suffixes} - {".txt", ".gz"}
    if not suffixes:
        return False
    from matchwork.data.tables import FORMATS

    return any(suffix.removeprefix(".") in FORMATS for suffix in suffixes)


def _read_table(path: Path, column_names: str | None) -> "list[Document]":
    from matchwork.data.pairs import ALIASES, find_column, missing_column, to_id, to_text
    from matchwork.data.tables import read_table
    from matchwork.types import Document

    table, named = read_table(path), read_columns(column_names)
    text_name = named and named.document
    id_name = named and named.document_id
    text_column = text_name or find_column(table.names, ALIASES["document"])
    id_column = id_name or find_column(table.names, (*ALIASES["document_id"], "id"))
    for wanted in (text_column or "document", id_column):
        if wanted is not None and wanted not in table.names:
            raise missing_column(path, table.names, wanted)
    chosen = [name for name in (text_column, id_column) if name is not None]
    documents: dict[str, Document] = {}
    for line, (text, *ids) in table.select(chosen):
        id = to_id(ids[0], path, line, chosen[1]) if ids else str(line)
        documents.setdefault(id, Document(id, to_text(text, path, line, chosen[0])))
    if not documents:
        raise DataError("the file holds no documents", path=path)
    return list(documents.values())

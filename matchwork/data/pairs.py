"""Pair files: a query, a document and a label in each row.

Columns are found by their usual names, ignoring case, `_`, `-` and spaces (`doc_id`, `DocID`);
`Columns` gives the names of other ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from matchwork.data.dataset import Columns, Dataset, Split, choose_splits
from matchwork.data.readers import READERS, Reader
from matchwork.data.tables import Table, find_table, need_table, read_table
from matchwork.errors import DataError
from matchwork.registry import did_you_mean
from matchwork.types import Qrels

ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query", "question", "question1", "sentence1", "text1", "texta"),
    "document": (
        *("document", "doc", "passage", "answer", "sentence", "text"),
        *("question2", "sentence2", "text2", "textb"),
    ),
    "label": ("label", "relevance", "grade", "isduplicate"),
    "query_id": ("queryid", "qid", "questionid", "qid1"),
    "document_id": (
        *("documentid", "docid", "did", "passageid", "pid"),
        *("sentenceid", "answerid", "qid2", "corpusid"),
    ),
}
"""Usual names of each column, lower-cased and without `_`, `-` and spaces; the first match wins."""

SPLIT_OF_FILE = dict(train="train", dev="dev", valid="dev", validation="dev", test="test")
"""Names of pair files in a folder, and the split that each holds."""


class PairRow(NamedTuple):
    """Row of a pair file; `line` is its line number, label and ids may be absent."""

    line: int
    query: str
    document: str
    label: int | None
    query_id: str | None
    document_id: str | None


def read_pairs(
    path: str | Path,
    columns: Columns | None = None,
    *,
    format: str | None = None,
    require_label: bool = True,
) -> Iterator[PairRow]:
    """Stream the rows of a pair file in constant memory, after its columns have been found.

    Args:
        path: TSV, CSV, JSONL (each also .gz) or Parquet file.
        columns: Column names; the usual ones by default.
        format: Name in `FORMATS`; by default the suffix decides.
        require_label: Whether a missing label column is an error; otherwise labels are None.
    """
    path = Path(path)
    table = read_table(path, format)
    return _rows(path, table, _find_columns(path, table.names, columns, require_label))


def read_split(
    path: str | Path,
    name: str,
    columns: Columns | None = None,
    *,
    format: str | None = None,
    require_label: bool = True,
) -> Split:
    """Read a pair file as one split; see `read_pairs` and `build_split`."""
    rows = read_pairs(path, columns, format=format, require_label=require_label)
    return build_split(name, rows, Path(path))


def build_split(name: str, rows: Iterable[PairRow], source: Path) -> Split:
    """Group rows by query into a split.

    Missing ids are generated: equal queries share one, every row has its own document. A document
    that is listed twice for a query becomes `id#2` the second time, so that no label is lost. An
    id that stands for two texts is an error.
    """
    queries, documents = _Texts("query", source), _Texts("document", source)
    made_ids: dict[str, str] = {}
    pools: dict[str, dict[str, None]] = {}
    qrels: Qrels = {}
    lines: dict[int, int] = {}
    for number, row in enumerate(rows, start=1):
        query_id = row.query_id or made_ids.setdefault(row.query, f"q{len(made_ids) + 1}")
        queries.add(query_id, row.query, row.line)
        pool = pools.setdefault(query_id, {})
        document_id = _unused(row.document_id or f"d{number}", pool)
        documents.add(document_id, row.document, row.line)
        pool[document_id] = None
        if row.label is not None:
            qrels.setdefault(query_id, {})[document_id] = row.label
            lines.setdefault(row.label, row.line)
    candidates = {query_id: tuple(pool) for query_id, pool in pools.items()}
    texts = queries.texts, documents.texts
    return Split(name, *texts, qrels, candidates, source=source, label_lines=lines)


def find_column(names: Sequence[str], aliases: Iterable[str]) -> str | None:
    """Return the first column that has one of the usual names, None without one."""
    plain = {_plain(name): name for name in reversed(names)}
    return next((plain[alias] for alias in aliases if alias in plain), None)


def missing_column(path: Path, names: Sequence[str], wanted: str) -> DataError:
    """Return the error for a column that is not in the file's first line."""
    return DataError(
        f"no such column; the file has {', '.join(map(repr, names))}; name the columns in the "
        f"first line or pass columns=; {did_you_mean(wanted, names)}",
        path=path,
        line=1,
        column=wanted,
    )


class _Texts:
    """Texts by id, with the line in which each first occurred."""

    def __init__(self, kind: str, source: Path) -> None:
        self.kind, self.source = kind, source
        self.texts: dict[str, str] = {}
        self._lines: dict[str, int] = {}

    def add(self, id: str, text: str, line: int) -> None:
        known = self.texts.setdefault(id, text)
        first = self._lines.setdefault(id, line)
        if known != text:
            raise DataError(
                f"{self.kind} id {id!r} has another text than in line {first}: "
                f"{_short(text)}, there {_short(known)}; give each text its own id",
                path=self.source,
                line=line,
            )


def _find_columns(
    path: Path, names: Sequence[str], columns: Columns | None, require_label: bool
) -> dict[str, str]:
    required = {"query", "document", *(["label"] if require_label else [])}
    names_of: dict[str, str] = {}
    for ours, aliases in ALIASES.items():
        given: str | None = getattr(columns, ours, None)
        theirs = find_column(names, aliases) if given is None else given
        if theirs not in names and (given is not None or ours in required):
            raise missing_column(path, names, given or ours)
        if theirs is not None:
            names_of[ours] = theirs
    return names_of


def _rows(path: Path, table: Table, columns: dict[str, str]) -> Iterator[PairRow]:
    names = list(columns.values())
    at = {ours: position for position, ours in enumerate(columns)}
    label_at, query_id_at, document_id_at = map(at.get, ("label", "query_id", "document_id"))
    line = 0
    for line, values in table.select(names):
        label = query_id = document_id = None
        if label_at is not None:
            label = to_label(values[label_at], path, line, names[label_at])
        if query_id_at is not None:
            query_id = to_id(values[query_id_at], path, line, names[query_id_at])
        if document_id_at is not None:
            document_id = to_id(values[document_id_at], path, line, names[document_id_at])
        query = to_text(values[0], path, line, names[0])
        document = to_text(values[1], path, line, names[1])
        yield PairRow(line, query, document, label, query_id, document_id)
    if line == 0:
        raise no_rows(path)


def to_text(value: object, path: Path, line: int, column: str) -> str:
    """Return the text of a cell, which may be empty but not missing."""
    if isinstance(value, str):
        return value
    raise _wrong("a text", value, path, line, column)


def to_id(value: object, path: Path, line: int, column: str) -> str:
    """Return the id in a cell: a text or a whole number."""
    if isinstance(value, str | int) and value != "":
        return str(value)
    raise _wrong("an id", value, path, line, column)


def to_label(value: object, path: Path, line: int, column: str) -> int:
    """Return the label in a cell: `1`, `"1"`, `1.0`, `"1.0"` or `true`, never below 0."""
    if value == "0" or value == "1":
        return int(value == "1")
    if isinstance(value, str | int | float):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = -1.0
        if number >= 0 and number.is_integer():
            return int(number)
    raise _wrong("a whole number from 0 up", value, path, line, column)


def no_rows(path: Path) -> DataError:
    """Return the error for a file that ends after its column names."""
    return DataError("the file has column names but no rows", path=path)


def _wrong(expected: str, value: object, path: Path, line: int, column: str) -> DataError:
    return DataError(
        f"expected {expected}, found {_short(value)}", path=path, line=line, column=column
    )


def _unused(id: str, taken: dict[str, None]) -> str:
    if id not in taken:
        return id
    return next(name for copy in count(2) if (name := f"{id}#{copy}") not in taken)


def _plain(name: str) -> str:
    return name.lower().translate(str.maketrans("", "", "_- "))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_pair_files(folder: Path, names: Sequence[str]) -> dict[str, Split]:
    """Read one pair file per split of a catalogued folder; `dev-clean` is `dev_clean.tsv`."""
    return {name: read_split(need_table(folder, name.replace("-", "_")), name) for name in names}


def _files_by_split(folder: Path) -> dict[str, Path]:
    files = ((split, find_table(folder, stem)) for stem, split in SPLIT_OF_FILE.items())
    return {split: path for split, path in files if path}


def _read_folder(folder: Path, splits: Sequence[str] | None, columns: Columns | None) -> Dataset:
    files = _files_by_split(folder)
    names = choose_splits(splits, files, folder)
    return Dataset(folder.name, {name: read_split(files[name], name, columns) for name in names})


def _recognises(folder: Path) -> bool:
    return not find_table(folder, "corpus") and bool(_files_by_split(folder))


READERS.add("pair-files", Reader(_recognises, _read_folder, generic=True))

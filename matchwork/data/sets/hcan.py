"""HCAN files: one folder a split, with a text file for queries, documents and labels each."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from matchwork.data.dataset import Dataset
from matchwork.data.pairs import PairRow, build_split, to_label
from matchwork.data.readers import READERS, find_file, need_file, release
from matchwork.errors import DataError
from matchwork.files import numbered_lines


def read_hcan(folder: str | Path) -> Dataset:
    """Read one split from each folder with `a.toks`, `b.toks`, `sim.txt` and optionally `id.txt`.

    A line of `id.txt` is a query id, or a TREC run line (the microblog sets), whose third field
    is the document id.
    """
    folder = Path(folder)
    parts = sorted(path.parent for path in folder.glob("*/a.toks*"))
    if not parts:
        raise DataError("no folder in it holds a.toks, b.toks and sim.txt", path=folder)
    splits = {part.name: build_split(part.name, _hcan_rows(part), part) for part in parts}
    return Dataset(folder.name, splits, protocol="has-positive")


def _hcan_rows(part: Path) -> Iterator[PairRow]:
    queries, documents, labels = (
        numbered_lines(need_file(part, name)) for name in ("a.toks", "b.toks", "sim.txt")
    )
    id_file = find_file(part, "id.txt")
    ids = numbered_lines(id_file) if id_file else None
    for query, document, label in zip_longest(queries, documents, labels):
        if query is None or document is None or label is None:
            raise DataError("a.toks, b.toks and sim.txt differ in their number of lines", path=part)
        line = query[0]
        grade = to_label(label[1], part / "sim.txt", line, "sim")
        fields = next(ids, (line, ""))[1].split() if ids else []
        if id_file and not fields:
            raise DataError(
                "expected an id, found an empty line or the end", path=id_file, line=line
            )
        query_id, _, document_id = [*fields, None, None, None][:3]
        yield PairRow(line, query[1], document[1], grade, query_id, document_id)


READERS.add("hcan", release("*/a.toks*", read_hcan))

"""The registry of readers: how the files of a folder become a data set.

A reader is one file that calls `READERS.add(name, Reader(...))`. `load` takes the first that
recognises a folder, readers of single releases before generic ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matchwork.data.dataset import Columns, Dataset, choose_splits
from matchwork.errors import DataError
from matchwork.registry import Registry


@dataclass(frozen=True)
class Reader:
    """Reader of one folder layout.

    Args:
        recognises: Whether a folder is laid out in this way.
        read: Reads the named splits (all when None) of a folder; the column names are for
            pair files.
        generic: Whether it is tried after the readers of single releases.
    """

    recognises: Callable[[Path], bool]
    read: Callable[[Path, Sequence[str] | None, Columns | None], Dataset]
    generic: bool = False


READERS: Registry[Reader] = Registry("reader")


def release(marker: str, read: Callable[[Path], Dataset]) -> Reader:
    """Return a release's reader; `marker`: glob pattern of a file that only this release has."""

    def read_chosen(folder: Path, splits: Sequence[str] | None, columns: Columns | None) -> Dataset:
        dataset = read(folder)
        names = choose_splits(splits, dataset.splits, folder)
        return replace(dataset, splits={name: dataset.splits[name] for name in names})

    return Reader(lambda folder: bool(marker) and any(folder.glob(marker)), read_chosen)


def recognise(folder: Path) -> Reader:
    """Return the reader for a folder, judging by the files in it."""
    readers = [READERS[name] for name in READERS]
    for reader in sorted(readers, key=lambda reader: reader.generic):
        if reader.recognises(folder):
            return reader
    raise DataError(
        "no data recognised in the folder; it may hold train, dev and test pair files "
        "(.tsv, .csv, .jsonl, .parquet), a BEIR folder (corpus.jsonl, queries.jsonl, qrels/), "
        "a collection (corpus.tsv, queries.SPLIT.tsv, qrels.SPLIT.txt) or a release; "
        f"readers: {', '.join(READERS)}",
        path=folder,
    )


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file `name` or `name.gz` of a folder, None if there is neither."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def need_file(folder: Path, name: str) -> Path:
    """Return the file `name` or `name.gz` of a folder; raise DataError if there is neither."""
    path = find_file(folder, name)
    if path is None:
        raise DataError(f"no file {name} (or {name}.gz) in the folder", path=folder)
    return path

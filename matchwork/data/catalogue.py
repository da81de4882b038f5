"""Data sets by name: where they lie, how they are measured, what must be in them.

Nothing is downloaded. Folders are found under `root` or the environment variable
`MATCHWORK_DATA`; every split is counted as it is read and compared with the table below.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from matchwork.data import sources
from matchwork.data.collection import chosen
from matchwork.data.dataset import Dataset, Protocol, Split
from matchwork.data.formats import Columns
from matchwork.data.sources import Options, Source
from matchwork.errors import ConfigError, DataError
from matchwork.registry import Registry, did_you_mean
from matchwork.types import Task

ROOT_VARIABLE = "MATCHWORK_DATA"


@dataclass(frozen=True)
class Counts:
    """What a split must hold; None is not checked (the options change it).

    `judgements` are labelled pairs, `positives` those above 0 whose document is here,
    `candidates` the pairs to rank.
    """

    queries: int
    judgements: int
    positives: int
    candidates: int | None = None
    documents: int | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """One data set: a folder and its reader, or `build` for one that is made on the spot.

    `splits` holds the expected counts (None: they depend on the machine); `options` the values
    each option may take, the first being the default; `runs` the names of `Split.runs`.
    """

    title: str
    licence: str
    splits: Mapping[str, Counts | None]
    folder: str = ""
    source: Source = sources.pair_files
    build: Callable[[], Dataset] | None = None
    task: Task = "ranking"
    protocol: Protocol = "raw"
    measures: tuple[str, ...] = ("AP", "RR", "P@1")
    options: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    citation: str = ""
    notes: str = ""


CATALOGUE: Registry[CatalogueEntry] = Registry("data set")


def load(
    name_or_path: str | Path,
    root: str | Path | None = None,
    splits: Sequence[str] | None = None,
    *,
    columns: Columns | None = None,
    **options: str | bool,
) -> Dataset:
    """A data set by its catalogue name, or from a pair file or folder of your own.

    A `Path` is never taken for a name. Only the named `splits` are read (all when None).
    `columns` is for pair files of your own, `options` are those of the catalogue entry.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in CATALOGUE:
        return _load_entry(name, CATALOGUE[name], root, splits, options)
    path = Path(name_or_path)
    if not path.exists():
        raise DataError(
            f"no data set is named {name!r} and no such file or folder exists; "
            f"{did_you_mean(name, CATALOGUE)}"
        )
    _complete(name, {}, options)
    return sources.read_path(path, splits, columns)


def _load_entry(
    name: str,
    entry: CatalogueEntry,
    root: str | Path | None,
    splits: Sequence[str] | None,
    options: Options,
) -> Dataset:
    complete = _complete(name, entry.options, options)
    names = chosen(splits, entry.splits, Path(name))
    if entry.build is not None:
        dataset = entry.build()
        return replace(dataset, splits={name: dataset[name] for name in names})
    folder = _folder(name, entry, root)
    read = entry.source(folder, names, complete)
    for split in read.values():
        _check_counts(split, entry.splits[split.name], folder)
    return Dataset(
        name,
        read,
        task=entry.task,
        protocol=entry.protocol,
        measures=entry.measures,
        notes=entry.notes,
        licence=entry.licence,
        options=complete,
    )


def _complete(
    name: str, known: Mapping[str, tuple[str | bool, ...]], given: Options
) -> dict[str, str | bool]:
    for option, value in given.items():
        if option not in known:
            hint = did_you_mean(option, known)
            raise ConfigError(f"data set {name!r} has no option {option!r}; {hint}")
        # Not `in`: to Python 1 is True, to a reader of a recipe it is not.
        if not any(value == one and type(value) is type(one) for one in known[option]):
            raise ConfigError(
                f"data set {name!r}: {option} = {value!r}; "
                f"it is one of {', '.join(map(repr, known[option]))}"
            )
    return {option: given.get(option, values[0]) for option, values in known.items()}


def _folder(name: str, entry: CatalogueEntry, root: str | Path | None) -> Path:
    place = root or os.environ.get(ROOT_VARIABLE)
    if not place:
        raise ConfigError(
            f"data set {name!r} is read from disk: set {ROOT_VARIABLE} to the folder that holds "
            f"{entry.folder}/, or pass --data-root (root= in Python)"
        )
    folder = Path(place) / entry.folder
    if not folder.is_dir():
        raise DataError(
            f"no such folder; data set {name!r} is looked for there because of --data-root "
            f"or {ROOT_VARIABLE}",
            path=folder,
        )
    return folder


def count(split: Split) -> Counts:
    """What a split holds."""
    judged = [pair for grades in split.qrels.values() for pair in grades.items()]
    return Counts(
        queries=len(split.queries),
        judgements=len(judged),
        positives=sum(grade > 0 and id in split.documents for id, grade in judged),
        candidates=sum(map(len, split.candidates.values())) if split.candidates else None,
        documents=len(split.documents),
    )


def _check_counts(split: Split, expected: Counts | None, folder: Path) -> None:
    if expected is None:
        return
    found = asdict(count(split))
    wrong = [
        f"expected {number} {what}, found {found[what]}"
        for what, number in asdict(expected).items()
        if number is not None and number != found[what]
    ]
    if wrong:
        raise DataError(
            f"split {split.name!r}: {'; '.join(wrong)}; "
            "the files are incomplete or of another version",
            path=folder,
        )

"""The catalogue of named data sets: what each holds, how it is measured and how it is read.

A data set is one file that calls `CATALOGUE.add(name, CatalogueEntry(...))`; ours are TOML files in
`matchwork/data/sets`. Nothing is downloaded: folders are looked up under the data root.
"""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from matchwork.data.dataset import Dataset, Split, choose_splits
from matchwork.data.pairs import read_pair_files
from matchwork.errors import ConfigError, DataError
from matchwork.registry import Registry, did_you_mean
from matchwork.types import Task

DATA_ROOT_VARIABLE = "MATCHWORK_DATA"

Options: TypeAlias = Mapping[str, str | bool]
ReadSplits: TypeAlias = Callable[..., dict[str, Split]]
"""Reads splits, given a folder, their names and every option of the entry by keyword."""


@dataclass(frozen=True)
class Counts:
    """Expected size of a split, None if unchecked; positives have a label above 0 and a text."""

    queries: int
    judgements: int
    positives: int
    candidates: int | None = None
    documents: int | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """Entry of a data set in the catalogue.

    Args:
        title: One line for `matchwork data list`.
        licence: Terms of use.
        splits: Expected counts of each split; None where they depend on the machine.
        folder: Folder below the data root.
        read: Reads splits from the folder; pair files named like the splits by default.
        build: Generates the data set instead of reading it; then there is no folder.
        task: What the labels are for.
        protocol: Which queries count and how ties fall (`matchwork.evaluate.PROTOCOLS`).
        measures: Measures that are reported by default.
        options: Allowed values of each option, the default first.
        runs: Names of the rankings in `Split.runs`.
        citation: The paper to cite.
        notes: What a user should know before reporting numbers.
    """

    title: str
    licence: str
    splits: Mapping[str, Counts | None]
    folder: str = ""
    read: ReadSplits = read_pair_files
    build: Callable[[], Dataset] | None = None
    task: Task = "ranking"
    protocol: str = "raw"
    measures: tuple[str, ...] = ("AP", "RR", "P@1")
    options: Mapping[str, tuple[str | bool, ...]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    citation: str = ""
    notes: str = ""

    def dataset(
        self, name: str, splits: Mapping[str, Split], options: Options | None = None
    ) -> Dataset:
        """Return the data set with these splits."""
        measured = self.task, self.protocol, self.measures
        return Dataset(name, splits, *measured, self.notes, self.licence, options or {})


CATALOGUE: Registry[CatalogueEntry] = Registry("data set")


def read_entry(path: Path) -> CatalogueEntry:
    """Read an entry from TOML; `read` and `build` name functions as `module:function`."""
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    splits = {
        name: Counts(**counts) if counts else None for name, counts in table.pop("splits").items()
    }
    options = {name: tuple(values) for name, values in table.pop("options", {}).items()}
    for key in {"measures", "runs"} & table.keys():
        table[key] = tuple(table[key])
    for key in {"read", "build"} & table.keys():
        table[key] = _imported_when_called(f"matchwork.data.{table[key]}")
    return CatalogueEntry(splits=splits, options=options, **table)


def _imported_when_called(name: str) -> Callable[..., Any]:
    return lambda *given, **options: resolve_name(name)(*given, **options)


def load_named(
    name: str, data_root: str | Path | None, splits: Sequence[str] | None, options: Options
) -> Dataset:
    """Read a data set of the catalogue and check its counts; see `load`."""
    entry = CATALOGUE[name]
    values = check_options(name, entry.options, options)
    names = choose_splits(splits, entry.splits, Path(name))
    if entry.build is not None:
        dataset = entry.build()
        return replace(dataset, splits={name: dataset[name] for name in names})
    folder = _find_folder(name, entry, data_root)
    read = entry.read(folder, names, **values)
    for split in read.values():
        _check_counts(split, entry.splits[split.name], folder)
    return entry.dataset(name, read, values)


def check_options(
    name: str, known: Mapping[str, tuple[str | bool, ...]], given: Options
) -> dict[str, str | bool]:
    """Return a value for every known option: the given one or the default."""
    for option, value in given.items():
        if option not in known:
            hint = did_you_mean(option, known)
            raise ConfigError(f"data set {name!r} has no option {option!r}; {hint}")
        # Not `in`: 1 == True in Python, but not in a recipe.
        if not any(value == one and type(value) is type(one) for one in known[option]):
            raise ConfigError(
                f"data set {name!r}: {option} = {value!r}; "
                f"it is one of {', '.join(map(repr, known[option]))}"
            )
    return {option: given.get(option, values[0]) for option, values in known.items()}


def _find_folder(name: str, entry: CatalogueEntry, data_root: str | Path | None) -> Path:
    data_root = data_root or os.environ.get(DATA_ROOT_VARIABLE)
    if not data_root:
        raise ConfigError(
            f"data set {name!r} is read from disk: set {DATA_ROOT_VARIABLE} to the folder that "
            f"holds {entry.folder}/, or pass --data-root (data_root= in Python)"
        )
    folder = Path(data_root) / entry.folder
    if not folder.is_dir():
        raise DataError(
            f"no such folder; data set {name!r} is expected there because of --data-root "
            f"or {DATA_ROOT_VARIABLE}",
            path=folder,
        )
    return folder


def count(split: Split) -> Counts:
    """Count the queries, labels, candidates and documents of a split."""
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
    actual = asdict(count(split))
    wrong = [
        f"expected {number} {what}, found {actual[what]}"
        for what, number in asdict(expected).items()
        if number is not None and number != actual[what]
    ]
    if wrong:
        raise DataError(
            f"split {split.name!r}: {'; '.join(wrong)}; "
            "the files are incomplete or of another version",
            path=folder,
        )

"""The sections [data], [also] and [run] of a recipe: data, conditions to test under, seeds."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build, to_table
from matchwork.data import Columns
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import CLASSIFICATION, PROTOCOLS, REGRESSION, canonical, task_of
from matchwork.registry import did_you_mean
from matchwork.types import Task

MAIN = "main"
"""The condition that `[data]` describes: epochs are chosen and matchers calibrated on its dev."""
CHANGEABLE = ("protocol", "measures", "dev", "test", "depth", "dev_depth", "options")
"""The keys of `[data]` that another condition may change: none that training depends on."""
_CONDITION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_EXAMPLES = {
    "ranking": "AP, RR or nDCG@10",
    "classification": ", ".join(CLASSIFICATION),
    "regression": ", ".join(REGRESSION),
}


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """Data set, splits and measures.

    Args:
        name: A data set of the catalogue, or the path of a pair file or folder.
        protocol: Which queries count; empty: the data set's own.
        measures: Measures reported on test; empty: the data set's own.
        train: Split to train on.
        dev: Split to choose epochs and fusion weights on, and to calibrate on.
        test: Split to report.
        depth: Number of BM25's best documents to rerank where the data set has no candidates;
            0: all.
        dev_depth: `depth` for dev, which is ranked after every epoch; None: `depth`.
        options: Options of a catalogued data set.
        columns: Names of the columns of a pair file.
        baselines: Baselines beside BM25 and the runs that the data set comes with.
        fuse_with: Baselines to fuse the matcher with.
        fraction: Share of `train` to train on; the rest is never read.
        dev_fraction: Share of `dev` to use, in all conditions.
        test_fraction: Share of `test` to report, in all conditions.
    """

    name: str
    protocol: str = ""
    measures: tuple[str, ...] = ()
    train: str = "train"
    dev: str = "dev"
    test: str = "test"
    depth: int = 100
    dev_depth: int | None = None
    options: dict[str, str | bool] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    baselines: tuple[Literal["BM25+RM3"], ...] = ()
    fuse_with: tuple[str, ...] = ("BM25",)
    fraction: float = 1.0
    dev_fraction: float = 1.0
    test_fraction: float = 1.0

    def __post_init__(self) -> None:
        self.column_names()
        for name in ("baselines", "fuse_with"):
            listed = getattr(self, name)
            if len(set(listed)) != len(listed):
                raise ConfigError(f"{name} names a system twice: {list(listed)}")
        for key, depth in (("depth", self.depth), ("dev_depth", self.dev_depth or 0)):
            if depth < 0:
                raise ConfigError(f"{key} must be 0 (all) or more, got {depth}")
        for name in ("fraction", "dev_fraction", "test_fraction"):
            if not 0 < getattr(self, name) <= 1:
                value = getattr(self, name)
                raise ConfigError(f"{name} must be above 0 and at most 1, got {value}")
        if self.fraction < 1 and self.train in (self.dev, self.test):
            raise ConfigError(
                f"fraction = {self.fraction} of {self.train!r} would be measured on too; train "
                "on another split"
            )

    def column_names(self) -> Columns | None:
        """Return the names of the columns of a pair file; None: the usual ones."""
        return build(Columns, self.columns, "columns") if self.columns else None


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """Repetitions and scoring.

    Args:
        seeds: Seeds of the repetitions.
        precision: Precision with which dev and test are scored.
    """

    seeds: tuple[int, ...] = (1,)
    precision: Literal["32", "bf16"] = "32"

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(f"seeds must be different numbers, got {list(self.seeds)}")
        if min(self.seeds) < 0:
            raise ConfigError(f"seeds must not be negative, got {min(self.seeds)}")


@dataclass(frozen=True)
class ConditionSection:
    """A condition to test under, and the numbers published for it."""

    data: DataSection
    paper: Mapping[str, float | str]


def published(table: Mapping[str, Any], where: str) -> dict[str, float | str]:
    """Return published numbers by the canonical names of their measures, and their `source`."""
    checked: dict[str, float | str] = {}
    for key, value in table.items():
        if key == "source":
            checked[key] = str(value)
        elif isinstance(value, int | float):
            checked[canonical(key)] = float(value)
        else:
            raise ConfigError(f"{where}: {key} = {value!r}: a published number is expected")
    return checked


def make_condition(
    name: str, changes: object, data: Mapping[str, Any], where: str
) -> ConditionSection:
    """Build a condition from the table `[data]` and the changes to it in `[also.NAME]`."""
    if not isinstance(changes, Mapping):
        raise ConfigError(f"{where}: a table of changes to [data] is expected, got {changes!r}")
    if name == MAIN or not _CONDITION_NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: a condition is named with letters, digits, - and _, and not {MAIN!r}; "
            f"got {name!r}"
        )
    for key in changes:
        _require_known(key, (*CHANGEABLE, "paper"), f"{where}: a condition cannot change {key!r}")
    changed = dict(data)
    if "depth" in changes:
        changed.pop("dev_depth", None)  # dev and test of a condition are ranked alike
    paper = changes.get("paper", {})
    if not isinstance(paper, Mapping):
        raise ConfigError(f"{where}: paper must be a table, got {paper!r}")
    changed |= {key: value for key, value in changes.items() if key != "paper"}
    return ConditionSection(build(DataSection, changed, where), published(paper, where))


def condition_table(section: ConditionSection) -> dict[str, Any]:
    """Return the table `[also.NAME]` of a condition, with all keys that it may change."""
    table = to_table(section.data)
    return {key: table[key] for key in CHANGEABLE} | {"paper": dict(section.paper)}


def check_data(data: DataSection, where: str) -> None:
    """Check every name of a section against what is registered."""
    is_path = data.name not in CATALOGUE
    entry = None if is_path else CATALOGUE[data.name]
    if data.protocol:
        _require_known(data.protocol, PROTOCOLS, f"{where}: no protocol {data.protocol!r}")
    for measure in data.measures:
        canonical(measure)
    systems = ("BM25", *data.baselines, *(entry.runs if entry else ()))
    for system in data.fuse_with:
        _require_known(system, systems, f"{where}: fuse_with = {system!r} is not a baseline here")
    for option in data.options:
        options = entry.options if entry else {}
        _require_known(option, options, f"{where}: {data.name} has no option {option!r}")
    if entry:
        for split in (data.train, data.dev, data.test) if entry.splits else ():
            _require_known(split, entry.splits, f"{where}: {data.name} has no split {split!r}")
    elif not Path(data.name).exists():
        hint = did_you_mean(data.name, CATALOGUE)
        raise DataError(f"{where}: {data.name!r} is neither a known data set nor a path; {hint}")


def _require_known(name: str, known: Collection[str], problem: str) -> None:
    if name not in known:
        raise ConfigError(f"{problem}; {did_you_mean(name, known)}")


def check_measures(
    conditions: Mapping[str, ConditionSection], dev_measure: str, task: Task, where: str
) -> None:
    """Check that every measure, `dev_measure` included, fits the task of the data."""
    named: dict[str, Sequence[str]] = {
        "data.measures": conditions[MAIN].data.measures,
        "train.dev_measure": (dev_measure,),
    }
    for name, section in conditions.items():
        if name != MAIN:
            named[f"also.{name}.measures"] = section.data.measures
    for key, measures in named.items():
        for measure in measures:
            if task_of(measure) != task:
                dataset = conditions[MAIN].data.name
                raise ConfigError(
                    f"{where}: {key} = {measure!r} does not measure {task}, which is the task of "
                    f"{dataset}; use {_EXAMPLES[task]}"
                )

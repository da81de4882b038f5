"""What a recipe says of data: what to learn from, and every way to test what was learnt."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build, later, to_table
from matchwork.data import Columns
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import PROTOCOLS, canonical
from matchwork.registry import did_you_mean

MAIN = "main"
"""The condition that `[data]` describes: epochs are chosen and matchers calibrated on its dev."""
CHANGEABLE = ("protocol", "measures", "dev", "test", "depth", "dev_depth", "options")
"""What a further condition may change of `[data]`: how is tested, never what is learnt from."""
_CONDITION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """Which data, which splits, how it is measured.

    Empty `protocol` and `measures` mean the data set's own. `depth` is how many of BM25's
    best documents are re-ranked where the data set has no candidates; 0 ranks them all.
    `dev_depth` is the same for dev (None: `depth`), which is ranked after every epoch.
    `options` are those of a catalogued set, `columns` names the columns of a pair file.
    `baselines` are measured beside BM25 and the runs that the data set comes with; the matcher
    is fused with each system of `fuse_with`, any of all these. `fraction` is the share of `train`
    that is learnt from; the rest is as if it were not there. `dev_fraction` is the share of `dev`
    that is chosen on, and `test_fraction` that of `test` that is reported, in all conditions.
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
    baselines: tuple[Literal["BM25+RM3"], ...] = later(())
    fuse_with: tuple[str, ...] = later(("BM25",))
    fraction: float = later(1.0)
    dev_fraction: float = later(1.0)
    test_fraction: float = later(1.0)

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
                raise ConfigError(
                    f"{name} must be above 0 and at most 1, got {getattr(self, name)}"
                )
        if self.fraction < 1 and self.train in (self.dev, self.test):
            raise ConfigError(
                f"fraction = {self.fraction} of {self.train!r} would be measured on too; learn "
                "from another split"
            )

    def column_names(self) -> Columns | None:
        """What the columns of a pair file of one's own are called."""
        return build(Columns, self.columns, "columns") if self.columns else None


@dataclass(frozen=True)
class ConditionSection:
    """One way to test what was trained, and the numbers published for it."""

    data: DataSection
    paper: Mapping[str, float | str]


def published(table: Mapping[str, Any], where: str) -> dict[str, float | str]:
    """The published numbers: measure = value, and where they stand."""
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
    """`[data]` with the keys of one `[also.NAME]` in place of its own."""
    if not isinstance(changes, Mapping):
        raise ConfigError(f"{where}: a table of changes to [data] is expected, got {changes!r}")
    if name == MAIN or not _CONDITION_NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: a condition is named with letters, digits, - and _, and not {MAIN!r}; "
            f"got {name!r}"
        )
    for key in changes:
        if key not in (*CHANGEABLE, "paper"):
            hint = did_you_mean(key, (*CHANGEABLE, "paper"))
            raise ConfigError(f"{where}: a condition cannot change {key!r}; {hint}")
    kept = dict(data)
    if "depth" in changes:
        kept.pop("dev_depth", None)  # dev and test of a condition are ranked alike
    paper = changes.get("paper", {})
    if not isinstance(paper, Mapping):
        raise ConfigError(f"{where}: paper must be a table, got {paper!r}")
    kept |= {key: value for key, value in changes.items() if key != "paper"}
    return ConditionSection(build(DataSection, kept, where), published(paper, where))


def condition_table(section: ConditionSection) -> dict[str, Any]:
    """The inverse of `make_condition`: what a condition may change, and its published numbers."""
    table = to_table(section.data)
    return {key: table[key] for key in CHANGEABLE} | {"paper": dict(section.paper)}


def check_data(data: DataSection, where: str) -> None:
    """Whether all that is named is known."""
    if data.protocol and data.protocol not in PROTOCOLS:
        hint = did_you_mean(data.protocol, PROTOCOLS)
        raise ConfigError(f"{where}: no protocol {data.protocol!r}; {hint}")
    for measure in data.measures:
        canonical(measure)
    _check_fusion(data, where)
    options = CATALOGUE[data.name].options if data.name in CATALOGUE else {}
    for option in data.options:
        if option not in options:
            hint = did_you_mean(option, options)
            raise ConfigError(f"{where}: {data.name} has no option {option!r}; {hint}")
    if data.name in CATALOGUE:
        known = CATALOGUE[data.name].splits
        for split in (data.train, data.dev, data.test):
            if known and split not in known:
                hint = did_you_mean(split, known)
                raise ConfigError(f"{where}: {data.name} has no split {split!r}; {hint}")
    elif not Path(data.name).exists():
        hint = did_you_mean(data.name, CATALOGUE)
        raise DataError(f"{where}: {data.name!r} is neither a known data set nor a path; {hint}")


def _check_fusion(data: DataSection, where: str) -> None:
    runs = CATALOGUE[data.name].runs if data.name in CATALOGUE else ()
    systems = ("BM25", *data.baselines, *runs)
    for system in data.fuse_with:
        if system not in systems:
            hint = did_you_mean(system, systems)
            raise ConfigError(f"{where}: fuse_with = {system!r} is not a baseline here; {hint}")

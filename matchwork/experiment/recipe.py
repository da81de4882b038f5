"""A recipe: what to train on, which model, how, and with which seeds. Checked before any work."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build, to_table
from matchwork.data.catalogue import CATALOGUE
from matchwork.data.formats import Columns
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import CLASSIFICATION, PROTOCOLS, REGRESSION, canonical, task_of
from matchwork.experiment.links import LinksSection, check_links, model_with_links
from matchwork.experiment.text_sections import TextSection, VectorsSection, check_vectors
from matchwork.models import MODELS, ModelConfig
from matchwork.registry import did_you_mean
from matchwork.train import TrainConfig
from matchwork.types import Task

SECTIONS = ("data", "text", "vectors", "links", "model", "train", "run", "paper", "also")
MAIN = "main"
"""The condition that `[data]` describes: epochs are chosen and matchers calibrated on its dev."""
CHANGEABLE = ("protocol", "measures", "dev", "test", "depth", "dev_depth", "options")
"""What a further condition may change of `[data]`: how is tested, never what is learnt from."""
ADDED = ("baselines", "fuse_with")
"""Keys of `[data]` that came later: as a default they are not written, so old hashes stay."""
_CONDITION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """Which data, which splits, how it is measured.

    Empty `protocol` and `measures` mean the data set's own. `depth` is how many of BM25's
    best documents are re-ranked where the data set has no candidates; 0 ranks them all.
    `dev_depth` is the same for dev (None: `depth`), which is ranked after every epoch.
    `options` are those of a catalogued set, `columns` names the columns of a pair file.
    `baselines` are measured beside BM25 and the runs that the data set comes with; the matcher
    is fused with each system of `fuse_with`, any of all these.
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

    def __post_init__(self) -> None:
        self.column_names()
        for name in ADDED:
            listed = getattr(self, name)
            if len(set(listed)) != len(listed):
                raise ConfigError(f"{name} names a system twice: {list(listed)}")
        for key, depth in (("depth", self.depth), ("dev_depth", self.dev_depth or 0)):
            if depth < 0:
                raise ConfigError(f"{key} must be 0 (all) or more, got {depth}")

    def column_names(self) -> Columns | None:
        """What the columns of a pair file of one's own are called."""
        return build(Columns, self.columns, "columns") if self.columns else None


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """Seeds of the repetitions."""

    seeds: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(f"seeds must be different numbers, got {list(self.seeds)}")
        if min(self.seeds) < 0:
            raise ConfigError(f"seeds must not be negative, got {min(self.seeds)}")


@dataclass(frozen=True)
class ConditionSection:
    """One way to test what was trained, and the numbers published for it."""

    data: DataSection
    paper: Mapping[str, float | str]


@dataclass(frozen=True)
class Recipe:
    """A complete, valid experiment."""

    name: str
    data: DataSection
    text: TextSection
    vectors: VectorsSection
    model_name: str
    model: ModelConfig
    train: TrainConfig
    run: RunSection
    paper: Mapping[str, float | str]
    also: Mapping[str, ConditionSection] = field(default_factory=dict)
    links: LinksSection | None = None

    @property
    def conditions(self) -> dict[str, ConditionSection]:
        """Every way to test, the main one first."""
        return {MAIN: ConditionSection(self.data, self.paper), **self.also}

    @property
    def dataset_folder(self) -> str:
        """What the data set is called in `runs/` and `results/`."""
        return Path(self.data.name).stem

    def to_json(self) -> dict[str, Any]:
        """Every setting, defaults included."""
        tables = {
            "data": _data_table(self.data),
            "text": to_table(self.text),
            "vectors": to_table(self.vectors),
            "model": {"name": self.model_name, **to_table(self.model)},
            "train": to_table(self.train),
            "run": to_table(self.run),
            "paper": dict(self.paper),
        }
        if self.links:
            tables["links"] = to_table(self.links)
        if self.also:
            tables["also"] = {name: _to_table(section) for name, section in self.also.items()}
        return tables

    @property
    def hash(self) -> str:
        """Identity of the experiment: equal settings, equal hash."""
        content = dumps(self.to_json(), sort_keys=True)
        return blake2b(content.encode(), digest_size=8).hexdigest()


def load_recipe(
    path: str | Path, overrides: Sequence[str] = (), data_root: str | Path | None = None
) -> Recipe:
    """Read a TOML recipe, apply `section.key=value` overrides and check all of it."""
    path = Path(path)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read recipe {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    for override in overrides:
        _apply(tables, override)
    return make_recipe(path.stem, tables, str(path), data_root)


def make_recipe(
    name: str, tables: Mapping[str, Any], where: str, data_root: str | Path | None = None
) -> Recipe:
    """A recipe from plain tables."""
    for section, table in tables.items():
        if section not in SECTIONS:
            hint = did_you_mean(section, SECTIONS)
            raise ConfigError(f"{where}: unknown section [{section}]; {hint}")
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where}: {section} must be a section [{section}], got {table!r}")

    def at(title: str) -> str:
        return f"{where}: section [{title}]"

    model_table = dict(tables.get("model", {}))
    model_name = model_table.pop("name", None)
    if not isinstance(model_name, str):
        raise ConfigError(f"{at('model')}: key 'name' is missing; known: {', '.join(MODELS)}")
    entry = MODELS[model_name]
    links = build(LinksSection, tables["links"], at("links")) if "links" in tables else None
    model_table = model_with_links(model_table, model_name, links, where)
    train_table = {**entry.model.training_defaults, **tables.get("train", {})}
    recipe = Recipe(
        name=name,
        data=build(DataSection, tables.get("data", {}), at("data")),
        text=build(TextSection, tables.get("text", {}), at("text")),
        vectors=build(VectorsSection, tables.get("vectors", {}), at("vectors")),
        model_name=model_name,
        model=entry.config(model_table, at("model")),
        train=build(TrainConfig, train_table, at("train")),
        run=build(RunSection, tables.get("run", {}), at("run")),
        paper=_paper(tables.get("paper", {}), at("paper")),
        also={
            name: _condition(name, changes, tables.get("data", {}), at(f"also.{name}"))
            for name, changes in tables.get("also", {}).items()
        },
        links=links,
    )
    _check_names(recipe, where)
    check_vectors(recipe.vectors, recipe.text, where, data_root)
    if links:
        check_links(links, recipe.text, recipe.vectors, where, data_root)
    return recipe


def _apply(tables: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    parts = key.strip().split(".")
    if not equals or len(parts) < 2 or not all(parts):
        raise ConfigError(f"--set takes section.key=value, got {override!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word is a string: --set model.name=bag
    table = tables
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {override}: {part} is not a section")
    table[parts[-1]] = value


def _paper(table: Mapping[str, Any], where: str) -> dict[str, float | str]:
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


def _condition(name: str, changes: object, data: Mapping[str, Any], where: str) -> ConditionSection:
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
    return ConditionSection(build(DataSection, kept, where), _paper(paper, where))


def _data_table(data: DataSection) -> dict[str, Any]:
    table, plain = to_table(data), to_table(DataSection(name=data.name))
    return {key: v for key, v in table.items() if key not in ADDED or v != plain[key]}


def _to_table(section: ConditionSection) -> dict[str, Any]:
    table = to_table(section.data)
    return {key: table[key] for key in CHANGEABLE} | {"paper": dict(section.paper)}


def _check_names(recipe: Recipe, where: str) -> None:
    _check_data(recipe.data, where)
    for name, section in recipe.also.items():
        _check_data(section.data, f"{where}: section [also.{name}]")
    if recipe.data.name in CATALOGUE:
        check_measures(recipe, CATALOGUE[recipe.data.name].task, where)


def _check_data(data: DataSection, where: str) -> None:
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


def check_measures(recipe: Recipe, task: Task, where: str) -> None:
    """Whether what is measured fits the data; of a path this is known once it is read."""
    examples = {
        "ranking": "AP, RR or nDCG@10",
        "classification": ", ".join(CLASSIFICATION),
        "regression": ", ".join(REGRESSION),
    }
    for key, names in (
        ("data.measures", recipe.data.measures),
        ("train.dev_measure", (recipe.train.dev_measure,)),
        *((f"also.{name}.measures", also.data.measures) for name, also in recipe.also.items()),
    ):
        for name in names:
            if task_of(name) != task:
                raise ConfigError(
                    f"{where}: {key} = {name!r} does not measure {task}, which is the task of "
                    f"{recipe.data.name}; use {examples[task]}"
                )

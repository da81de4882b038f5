"""A sweep: one recipe, some of its settings varied, every combination an experiment."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import product
from json import dumps
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError, MatchworkError
from matchwork.evaluate import canonical
from matchwork.experiment.overrides import is_key, parse_change, put, read_toml
from matchwork.experiment.recipe import Recipe, make_recipe
from matchwork.registry import did_you_mean

KEYS = ("recipe", "sweep", "set", "chart")
CURVES = ("dev_loss",)


@dataclass(frozen=True, kw_only=True)
class ChartSection:
    """A picture of the sweep: a `measure` on test or dev, or a `curve` of training.

    A measure is drawn over the first swept key, with a line for each value of the second; a curve
    over batches, with a line for each value of the only one. `where` fixes the other keys.
    """

    measure: str = ""
    curve: str = ""
    title: str = ""
    where: dict[str, Any] = field(default_factory=dict)
    split: Literal["test", "dev"] = "test"

    def __post_init__(self) -> None:
        if bool(self.measure) == bool(self.curve):
            raise ConfigError("a chart has either a measure or a curve")
        if self.curve and self.split != "test":
            raise ConfigError("split is for a measure; a curve is of dev as it is")
        if self.measure:
            canonical(self.measure)
        if self.curve and self.curve not in CURVES:
            raise ConfigError(f"no curve {self.curve!r}; {did_you_mean(self.curve, CURVES)}")


@dataclass(frozen=True)
class Combination:
    """One experiment of a sweep: a value for each of its keys."""

    values: Mapping[str, Any]
    recipe: Recipe

    @property
    def label(self) -> str:
        """Such as "num_layers=1, name=hcan"."""
        return label(self.values)

    @property
    def folder(self) -> str:
        """Where its matchers go; other settings, another folder."""
        return f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', self.label)}-{self.recipe.hash[:8]}"


@dataclass(frozen=True)
class Sweep:
    """All combinations, the last key varying fastest, and how they are drawn."""

    name: str
    base: str
    keys: Mapping[str, Sequence[Any]]
    changes: Mapping[str, Any]
    charts: Sequence[ChartSection]
    combinations: Sequence[Combination]

    @cached_property
    def hash(self) -> str:
        """Identity of the experiments: equal combinations, equal hash."""
        content = dumps([[dict(one.values), one.recipe.hash] for one in self.combinations])
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def only(self, wanted: Sequence[str]) -> list[Combination]:
        """The combinations that have all of these `key=value`."""
        fixed: dict[str, Any] = {}
        for text in wanted:
            key, value = parse_change(text, "--only")
            _check_where({key: value}, self.keys, f"--only {text}")
            fixed[key] = value
        return [one for one in self.combinations if matches(one.values, fixed)]


def matches(values: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a combination has these values."""
    return all(values[key] == value for key, value in where.items())


def label(values: Mapping[str, Any]) -> str:
    """A combination in a few words."""
    return ", ".join(f"{short(key)}={as_word(value)}" for key, value in values.items())


def short(key: str) -> str:
    """A key without its section."""
    return key.rpartition(".")[2]


def as_word(value: object) -> str:
    """A value as a person would write it."""
    return value if isinstance(value, str) else dumps(value)


def load_sweep(
    path: str | Path, overrides: Sequence[str] = (), data_root: str | Path | None = None
) -> Sweep:
    """Read a sweep, apply overrides to what all combinations share, and check every one."""
    path = Path(path)
    tables = read_toml(path, "sweep")
    if "sweep" not in tables:
        raise ConfigError(
            f"{path}: no section [sweep]; a recipe is run with matchwork train {path}"
        )
    for key in tables:
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key {key!r}; {did_you_mean(key, KEYS)}")
    base = tables.get("recipe")
    if not isinstance(base, str):
        raise ConfigError(f"{path}: key 'recipe' is missing: the base, relative to this file")
    keys = _swept(tables["sweep"], f"{path}: section [sweep]")
    changes = _changes(tables.get("set", {}), overrides, keys, path)
    base_tables = read_toml(path.parent / base, f"the base of {path},")
    base_tables.pop("paper", None)  # what was published is about the base alone
    for key, value in changes.items():
        put(base_tables, key, value, f"{path}: section [set]: {key}")
    combinations = tuple(_combine(path, Path(base).stem, base_tables, keys, data_root))
    charts = tuple(_charts(tables.get("chart", []), keys, combinations, path))
    return Sweep(path.stem, base, keys, changes, charts, combinations)


def _swept(table: object, where: str) -> dict[str, list[Any]]:
    keys = dict(_flat(table, where))
    if not keys:
        raise ConfigError(f'{where}: nothing to vary; give "section.key" = [values]')
    for key, values in keys.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"{where}: {key} = {values!r}: a list of values is expected")
        for position, value in enumerate(values):
            if value in values[:position]:
                raise ConfigError(f"{where}: {key} names {value!r} twice")
    return keys


def _changes(
    table: object, overrides: Sequence[str], keys: Mapping[str, Any], path: Path
) -> dict[str, Any]:
    changes = dict(_flat(table, f"{path}: section [set]"))
    changes |= dict(parse_change(override) for override in overrides)
    for key in changes:
        if key in keys:
            raise ConfigError(f"{path}: {key} is both set and swept; choose one")
    return changes


def _flat(table: object, where: str, section: str = "") -> Iterator[tuple[str, Any]]:
    """`"a.b" = 1` and `a.b = 1` alike."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: a table is expected, got {table!r}")
    for key, value in table.items():
        name = section + key
        if isinstance(value, Mapping):
            yield from _flat(value, where, f"{name}.")
        elif is_key(name):
            yield name, value
        else:
            raise ConfigError(f'{where}: {name!r} is in no section; write "section.key"')


def _combine(
    path: Path,
    name: str,
    base: Mapping[str, Any],
    keys: Mapping[str, Sequence[Any]],
    data_root: str | Path | None,
) -> Iterator[Combination]:
    seen: dict[str, str] = {}
    for chosen in product(*keys.values()):
        values = dict(zip(keys, chosen, strict=True))
        tables = deepcopy(dict(base))
        for key, value in values.items():
            put(tables, key, value, f"{path}: section [sweep]: {key}")
        said = ", ".join(f"{key} = {as_word(value)}" for key, value in values.items())
        try:
            recipe = make_recipe(name, tables, "recipe", data_root)
        except MatchworkError as error:
            raise ConfigError(f"{path}: with {said}: {error}") from error
        if recipe.hash in seen:
            raise ConfigError(f"{path}: {said} is the same experiment as {seen[recipe.hash]}")
        seen[recipe.hash] = said
        yield Combination(values, replace(recipe, name=f"{path.stem}: {label(values)}"))


def _charts(
    listed: object,
    keys: Mapping[str, Sequence[Any]],
    combinations: Sequence[Combination],
    path: Path,
) -> Iterator[ChartSection]:
    where = f"{path}: section [chart]"
    for table in listed if isinstance(listed, list) else [listed]:
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where}: a table is expected, got {table!r}")
        plain = {**table, "where": dict(_flat(table.get("where", {}), where))}
        chart = build(ChartSection, plain, where)
        _check_where(chart.where, keys, where)
        free = [key for key in keys if key not in chart.where]
        most = 1 if chart.curve else 2
        if len(free) > most or (chart.measure and not free):
            raise ConfigError(
                f"{where}: {'a curve' if chart.curve else 'a measure'} can be drawn over "
                f"{'at most one key' if chart.curve else 'one or two keys'}, here over "
                f"{', '.join(free) or 'none'}; fix some with where"
            )
        for combination in combinations:
            _check_drawable(chart, combination, where)
        yield chart if not chart.measure else replace(chart, measure=canonical(chart.measure))


def _check_where(fixed: Mapping[str, Any], keys: Mapping[str, Sequence[Any]], where: str) -> None:
    for key, value in fixed.items():
        if key not in keys:
            raise ConfigError(f"{where}: {key!r} is not swept; {did_you_mean(key, keys)}")
        if value not in keys[key]:
            known = ", ".join(map(as_word, keys[key]))
            raise ConfigError(f"{where}: {key} is never {as_word(value)}; its values are {known}")


def _check_drawable(chart: ChartSection, combination: Combination, where: str) -> None:
    """Before hours of training: whether the result will have what the chart shows."""
    if not matches(combination.values, chart.where):
        return
    recipe = combination.recipe
    if chart.curve and not recipe.train.dev_loss_every:
        raise ConfigError(
            f"{where}: nothing will be logged for curve = {chart.curve!r}; "
            'add "train.dev_loss_every" = 100 (batches) to [set]'
        )
    if chart.split == "dev":
        _check_dev(chart, recipe, where)
        return
    known = recipe.data.measures
    if not known and recipe.data.name in CATALOGUE:
        known = CATALOGUE[recipe.data.name].measures
    names = [canonical(measure) for measure in known]
    if chart.measure and names and canonical(chart.measure) not in names:
        raise ConfigError(
            f"{where}: {chart.measure} will not be measured; {did_you_mean(chart.measure, names)}"
        )


def _check_dev(chart: ChartSection, recipe: Recipe, where: str) -> None:
    """Of dev only what chooses the epoch is kept."""
    kept = recipe.train.dev_measure
    if canonical(chart.measure) != kept:
        raise ConfigError(
            f"{where}: {chart.measure} is not measured on dev, only train.dev_measure, which is "
            f"{kept}; use that, or set the other"
        )

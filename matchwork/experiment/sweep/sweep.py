"""A sweep: a recipe, some settings to vary, and every combination of them as an experiment."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import product
from json import dumps
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError, MatchworkError
from matchwork.evaluate import canonical
from matchwork.experiment.recipe import Recipe, make_recipe
from matchwork.experiment.recipe.files import is_key, parse_change, put, read_recipe_file, read_toml
from matchwork.registry import did_you_mean

KEYS = ("base", "sweep", "set", "chart")
CURVES = ("dev_loss",)


@dataclass(frozen=True, kw_only=True)
class ChartSection:
    """A chart of the sweep: a measure over a swept key, or a curve of training over batches.

    Args:
        measure: Measure drawn over the first swept key, with a line for each value of the second.
        curve: Curve drawn over batches, with a line for each value of the only swept key.
        title: Title of the chart.
        where: Values at which the other keys are fixed.
        split: Split of the measure.
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
    """An experiment of a sweep: a value for each of its keys."""

    values: Mapping[str, Any]
    recipe: Recipe

    @property
    def label(self) -> str:
        """The values in a few words, such as "num_layers=1, name=hcan"."""
        return label(self.values)

    @property
    def folder(self) -> str:
        """Name of the folder for its seeds, which changes with any setting."""
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

    def only(self, wanted: Sequence[str]) -> list[Combination]:
        """Return the combinations that have all of these values, such as `model.name=hcan`."""
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
    """Describe the values of a combination in a few words."""
    return ", ".join(f"{short(key)}={as_word(value)}" for key, value in values.items())


def short(key: str) -> str:
    """Return a key without its section."""
    return key.rpartition(".")[2]


def as_word(value: object) -> str:
    """Write a value as a recipe does, but strings without quotes."""
    return value if isinstance(value, str) else dumps(value)


def load_sweep(
    path: str | Path, overrides: Sequence[str] = (), data_root: str | Path | None = None
) -> Sweep:
    """Read a sweep and check every combination; see `load_recipe` for the arguments."""
    path = Path(path)
    tables = read_toml(path, "sweep")
    if "sweep" not in tables:
        raise ConfigError(
            f"{path}: no section [sweep]; a recipe is run with matchwork train {path}"
        )
    for key in tables:
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key {key!r}; {did_you_mean(key, KEYS)}")
    base = tables.get("base")
    if not isinstance(base, str):
        raise ConfigError(f"{path}: key 'base' is missing: a recipe, relative to this file")
    keys = _swept(tables["sweep"], f"{path}: section [sweep]")
    changes = dict(_flat(tables.get("set", {}), f"{path}: section [set]"))
    changes |= dict(parse_change(override) for override in overrides)
    for key in changes.keys() & keys.keys():
        raise ConfigError(f"{path}: {key} is both set and swept; choose one")
    base_tables = read_recipe_file(path.parent / base, f"the base of {path},")
    base_tables.pop("paper", None)  # published numbers are about the base alone
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
        for index, value in enumerate(values):
            if value in values[:index]:
                raise ConfigError(f"{where}: {key} names {value!r} twice")
    return keys


def _flat(table: object, where: str, section: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys with their sections, whether written `"a.b" = 1` or `a.b = 1`."""
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
        described = ", ".join(f"{key} = {as_word(value)}" for key, value in values.items())
        try:
            recipe = make_recipe(name, tables, "recipe", data_root)
        except MatchworkError as error:
            raise ConfigError(f"{path}: with {described}: {error}") from error
        if same := seen.get(recipe.hash):
            raise ConfigError(f"{path}: {described} is the same experiment as {same}")
        seen[recipe.hash] = described
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
    """Check that the result will have what the chart shows, before hours of training."""
    if not matches(combination.values, chart.where):
        return
    recipe = combination.recipe
    if chart.curve and not recipe.train.dev_loss_every:
        raise ConfigError(
            f"{where}: nothing will be logged for curve = {chart.curve!r}; "
            'add "train.dev_loss_every" = 100 (batches) to [set]'
        )
    if chart.split == "dev":
        measured = recipe.train.dev_measure  # no other is measured on dev
        if canonical(chart.measure) != measured:
            raise ConfigError(
                f"{where}: {chart.measure} is not measured on dev, only train.dev_measure, which "
                f"is {measured}; use that, or set the other"
            )
        return
    known = recipe.data.measures
    if not known and recipe.data.name in CATALOGUE:
        known = CATALOGUE[recipe.data.name].measures
    names = [canonical(measure) for measure in known]
    if chart.measure and names and canonical(chart.measure) not in names:
        raise ConfigError(
            f"{where}: {chart.measure} will not be measured; {did_you_mean(chart.measure, names)}"
        )

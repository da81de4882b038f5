"""A recipe: data, text, vectors, model, training and seeds. Checked before any work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from pathlib import Path
from typing import Any, TypeVar

from matchwork.config import build, to_table
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError
from matchwork.experiment.recipe.data import (
    MAIN,
    ConditionSection,
    DataSection,
    RunSection,
    check_data,
    check_measures,
    condition_table,
    make_condition,
    published,
)
from matchwork.experiment.recipe.files import flatten, parse_change, put, read_recipe_file
from matchwork.experiment.recipe.inputs import (
    LinksSection,
    TextSection,
    VectorsSection,
    check_inputs,
    model_with_links,
)
from matchwork.models import MODELS, MatchModel, ModelConfig, StageConfig
from matchwork.plugins import import_plugins
from matchwork.registry import did_you_mean
from matchwork.train import TrainConfig
from matchwork.train.config import stage_configs

T = TypeVar("T")
SECTIONS = ("data", "text", "vectors", "links", "model", "stage", "train", "run", "paper", "also")


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
    stages: Mapping[str, StageConfig] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, ConditionSection]:
        """Every condition to test under, the main one first."""
        return {MAIN: ConditionSection(self.data, self.paper), **self.also}

    @property
    def dataset_folder(self) -> str:
        """Name of the data set's folder in `runs/` and `results/`."""
        return Path(self.data.name).stem

    def to_dict(self) -> dict[str, Any]:
        """Return every setting as tables of plain values; the inverse of `make_recipe`."""
        tables = {
            **({"import": list(self.plugins)} if self.plugins else {}),
            "data": to_table(self.data),
            "text": to_table(self.text),
            "vectors": to_table(self.vectors),
            "model": {"name": self.model_name, **to_table(self.model)},
            "train": to_table(self.train),
            "run": to_table(self.run),
            "paper": dict(self.paper),
        }
        if self.links:
            tables["links"] = to_table(self.links)
        if self.stages:
            tables["stage"] = {name: to_table(config) for name, config in self.stages.items()}
        if self.also:
            tables["also"] = {name: condition_table(section) for name, section in self.also.items()}
        return tables

    @property
    def hash(self) -> str:
        """Digest of the settings, for the names of folders."""
        content = dumps(self.to_dict(), sort_keys=True)
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def differences(self, settings: Mapping[str, Any]) -> list[str]:
        """Return the keys in which stored settings differ from this recipe's.

        Args:
            settings: Tables of an earlier `to_dict`; a key that is missing has its default.
        """
        try:
            other = dict(flatten(_build(self.name, settings, "stored settings").to_dict()))
        except ConfigError as error:  # a setting that no longer exists
            return [str(error)]
        ours = dict(flatten(self.to_dict()))
        return sorted(key for key in ours.keys() | other if ours.get(key) != other.get(key))


def load_recipe(
    path: str | Path, overrides: Sequence[str] = (), data_root: str | Path | None = None
) -> Recipe:
    """Read a TOML recipe with its bases, apply overrides and check all of it.

    Args:
        path: The file.
        overrides: Changes such as `section.key=value`.
        data_root: Folder that holds the catalogued data sets.

    Raises:
        ConfigError: A setting is unknown, wrong or without effect.
        DataError: A data set or a file does not exist.
    """
    path = Path(path)
    tables = read_recipe_file(path)
    if "sweep" in tables:
        raise ConfigError(f"{path} is a sweep, not a recipe; run it with matchwork sweep {path}")
    for override in overrides:
        put(tables, *parse_change(override), f"--set {override}")
    return make_recipe(path.stem, tables, str(path), data_root)


def make_recipe(
    name: str, tables: Mapping[str, Any], where: str, data_root: str | Path | None = None
) -> Recipe:
    """Build a recipe from a table for each section and check all of it."""
    recipe = _build(name, tables, where)
    check_data(recipe.data, where)
    for also, section in recipe.also.items():
        check_data(section.data, f"{where}: section [also.{also}]")
    if recipe.data.name in CATALOGUE:
        task = CATALOGUE[recipe.data.name].task
        check_measures(recipe.conditions, recipe.train.dev_measure, task, where)
    check_inputs(recipe.text, recipe.vectors, recipe.links, where, data_root)
    _check_training(recipe, where)
    return recipe


def _build(name: str, tables: Mapping[str, Any], where: str) -> Recipe:
    """Build a recipe; names and values are checked, files and combinations of settings are not."""

    def at(title: str) -> str:
        return f"{where}: section [{title}]"

    def section(title: str, cls: type[T]) -> T:
        return build(cls, sections.get(title, {}), at(title))

    plugins = tables.get("import", ())
    if not isinstance(plugins, Sequence) or isinstance(plugins, str):
        raise ConfigError(f"{where}: import = {plugins!r}: a list of modules is expected")
    import_plugins(plugins, f"{where}: import")  # models and so on may be theirs
    sections = {key: table for key, table in tables.items() if key != "import"}
    for title, table in sections.items():
        if title not in SECTIONS:
            hint = did_you_mean(title, SECTIONS)
            raise ConfigError(f"{where}: unknown section [{title}]; {hint}")
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where}: {title} must be a section [{title}], got {table!r}")
    model_table = dict(sections.get("model", {}))
    model_name = model_table.pop("name", None)
    if not isinstance(model_name, str):
        raise ConfigError(f"{at('model')}: key 'name' is missing; known: {', '.join(MODELS)}")
    entry = MODELS[model_name]
    links = section("links", LinksSection) if "links" in sections else None
    model = entry.config(model_with_links(model_table, model_name, links, where), at("model"))
    train_table = {**entry.model.training_defaults, **sections.get("train", {})}
    return Recipe(
        name=name,
        data=section("data", DataSection),
        text=section("text", TextSection),
        vectors=section("vectors", VectorsSection),
        model_name=model_name,
        model=model,
        train=build(TrainConfig, train_table, at("train")),
        run=section("run", RunSection),
        paper=published(sections.get("paper", {}), at("paper")),
        also={
            also: make_condition(also, changes, sections.get("data", {}), at(f"also.{also}"))
            for also, changes in sections.get("also", {}).items()
        },
        links=links,
        stages=stage_configs(model, sections.get("stage", {}), at("stage")),
        plugins=tuple(plugins),
    )


def _check_training(recipe: Recipe, where: str) -> None:
    """Check learning rates, negatives and special tokens against how the texts are encoded."""
    train, vectors = recipe.train, recipe.vectors
    if train.encoder_learning_rate is not None and not vectors.trainable:
        raise ConfigError(
            f"{where}: train.encoder_learning_rate = {train.encoder_learning_rate} needs "
            "vectors.trainable = true"
        )
    model = MODELS[recipe.model_name].model
    bi_encoded = issubclass(model, MatchModel) and not vectors.cross_encode
    train.check_model(recipe.model.num_classes, bi_encoded, f"{where}: train.")
    if not model.matches_tokens and vectors.special_tokens == "token":
        raise ConfigError(
            f'{where}: vectors.special_tokens = "token" makes [CLS] a token that is matched like '
            f"others, which {recipe.model_name} does not do; leave special_tokens out"
        )

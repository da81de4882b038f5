"""A recipe: what to train on, which model, how, and with which seeds. Checked before any work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build, later, to_table
from matchwork.data.catalogue import CATALOGUE
from matchwork.errors import ConfigError
from matchwork.evaluate import CLASSIFICATION, REGRESSION, task_of
from matchwork.experiment.data_sections import (
    MAIN,
    ConditionSection,
    DataSection,
    check_data,
    condition_table,
    make_condition,
    published,
)
from matchwork.experiment.links import LinksSection, check_links, model_with_links
from matchwork.experiment.overrides import parse_change, put, read_toml
from matchwork.experiment.text_sections import TextSection, VectorsSection, check_vectors
from matchwork.models import MODELS, MatchModel, ModelConfig, StageConfig
from matchwork.registry import did_you_mean
from matchwork.train import TrainConfig
from matchwork.train.stages.settings import stage_configs
from matchwork.types import Task

SECTIONS = ("data", "text", "vectors", "links", "model", "stage", "train", "run", "paper", "also")


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """Seeds of the repetitions, and the bits with which dev and test are scored."""

    seeds: tuple[int, ...] = (1,)
    precision: Literal["32", "bf16"] = later("32")

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ConfigError(f"seeds must be different numbers, got {list(self.seeds)}")
        if min(self.seeds) < 0:
            raise ConfigError(f"seeds must not be negative, got {min(self.seeds)}")


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

    @property
    def conditions(self) -> dict[str, ConditionSection]:
        """Every way to test, the main one first."""
        return {MAIN: ConditionSection(self.data, self.paper), **self.also}

    @property
    def dataset_folder(self) -> str:
        """What the data set is called in `runs/` and `results/`."""
        return Path(self.data.name).stem

    def to_json(self) -> dict[str, Any]:
        """Every setting; a default is left out where the key came later (`config.later`)."""
        tables = {
            "data": to_table(self.data),
            "text": to_table(self.text),
            "vectors": to_table(self.vectors),
            "model": {"name": self.model_name, **to_table(self.model)},
            "train": self._train_table(),
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

    def _train_table(self) -> dict[str, Any]:
        """With whatever the model would otherwise set to its own default."""
        model = MODELS[self.model_name].model
        own = {key: getattr(self.train, key) for key in model.training_defaults}
        return {**own, **to_table(self.train)}

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
    tables = read_toml(path, "recipe")
    if "sweep" in tables:
        raise ConfigError(f"{path} is a sweep, not a recipe; run it with matchwork sweep {path}")
    for override in overrides:
        put(tables, *parse_change(override), f"--set {override}")
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
    model = entry.config(model_table, at("model"))
    train_table = {**entry.model.training_defaults, **tables.get("train", {})}
    recipe = Recipe(
        name=name,
        data=build(DataSection, tables.get("data", {}), at("data")),
        text=build(TextSection, tables.get("text", {}), at("text")),
        vectors=build(VectorsSection, tables.get("vectors", {}), at("vectors")),
        model_name=model_name,
        model=model,
        train=build(TrainConfig, train_table, at("train")),
        run=build(RunSection, tables.get("run", {}), at("run")),
        paper=published(tables.get("paper", {}), at("paper")),
        also={
            name: make_condition(name, changes, tables.get("data", {}), at(f"also.{name}"))
            for name, changes in tables.get("also", {}).items()
        },
        links=links,
        stages=stage_configs(model, tables.get("stage", {}), at("stage")),
    )
    _check_names(recipe, where)
    check_vectors(recipe.vectors, recipe.text, where, data_root)
    _check_rates(recipe, where)
    _check_reading(recipe, where)
    if links:
        check_links(links, recipe.text, recipe.vectors, where, data_root)
    return recipe


def _check_names(recipe: Recipe, where: str) -> None:
    check_data(recipe.data, where)
    for name, section in recipe.also.items():
        check_data(section.data, f"{where}: section [also.{name}]")
    if recipe.data.name in CATALOGUE:
        check_measures(recipe, CATALOGUE[recipe.data.name].task, where)


def _check_rates(recipe: Recipe, where: str) -> None:
    """Learning rates of an encoder that learns nothing would have no effect."""
    train, vectors = recipe.train, recipe.vectors
    if train.encoder_learning_rate is not None and not vectors.trainable:
        raise ConfigError(
            f"{where}: train.encoder_learning_rate = {train.encoder_learning_rate} needs "
            "vectors.trainable = true"
        )


def _check_reading(recipe: Recipe, where: str) -> None:
    """What a model does with its texts decides how they may be framed and compared."""
    model = MODELS[recipe.model_name].model
    bi_encoded = issubclass(model, MatchModel) and not recipe.vectors.joint
    recipe.train.check_model(recipe.model.num_classes, bi_encoded, f"{where}: train.")
    if not model.matches_tokens and recipe.vectors.frame == "token":
        raise ConfigError(
            f'{where}: vectors.frame = "token" makes [CLS] a token that is matched like others, '
            f"which {recipe.model_name} does not do; leave frame out"
        )


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

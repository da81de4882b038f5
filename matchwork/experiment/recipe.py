"""A recipe: what to train on, which model, how, and with which seeds. Checked before any work."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from pathlib import Path
from typing import Any, Literal

from matchwork.config import build, to_table
from matchwork.data.catalogue import CATALOGUE
from matchwork.data.dataset import Task
from matchwork.data.formats import Columns
from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import CLASSIFICATION, PROTOCOLS, canonical
from matchwork.experiment.vector_files import find_vectors
from matchwork.models import MODELS, ModelConfig
from matchwork.registry import did_you_mean
from matchwork.text import WordTokenizerConfig
from matchwork.train import TrainConfig

SECTIONS = ("data", "text", "vectors", "model", "train", "run", "paper")


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """Which data, which splits, how it is measured.

    Empty `protocol` and `measures` mean the data set's own. `depth` is how many of BM25's
    best documents are re-ranked where the data set has no candidates; 0 ranks them all.
    `options` are those of a catalogued set, `columns` names the columns of a pair file.
    """

    name: str
    protocol: str = ""
    measures: tuple[str, ...] = ()
    train: str = "train"
    dev: str = "dev"
    test: str = "test"
    depth: int = 100
    options: dict[str, str | bool] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.column_names()

    def column_names(self) -> Columns | None:
        """What the columns of a pair file of one's own are called."""
        return build(Columns, self.columns, "columns") if self.columns else None


@dataclass(frozen=True, kw_only=True)
class TextSection:
    """The word tokenizer and the length limits (0 = none)."""

    lowercase: bool = True
    strip_accents: bool = True
    punctuation: Literal["drop", "keep"] = "drop"
    stem: str | None = None
    bigrams: bool = False
    min_count: int = 1
    max_query_length: int = 0
    max_document_length: int = 0

    def __post_init__(self) -> None:
        for name in ("min_count", "max_query_length", "max_document_length"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")

    def tokenizer(self) -> WordTokenizerConfig:
        """The part that the tokenizer takes."""
        return WordTokenizerConfig(
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            punctuation=self.punctuation,
            stem=self.stem,
            bigrams=self.bigrams,
        )


@dataclass(frozen=True, kw_only=True)
class VectorsSection:
    """Where word vectors come from: a `file`, the training texts ("corpus") or a hash ("random").

    `keep`: every word of the file, or only those of the data set's texts ("data"), which makes
    a smaller matcher that knows fewer words.
    """

    source: Literal["random", "file", "corpus"] = "random"
    file: str = ""
    words: str = ""
    dim: int = 100
    trainable: bool = False
    unknown: Literal["hash", "const"] = "hash"
    keep: Literal["all", "data"] = "all"

    def __post_init__(self) -> None:
        if (self.source == "file") != bool(self.file):
            raise ConfigError(f'source = "file" and file belong together, got {self.file!r}')
        if self.words and not self.file:
            raise ConfigError(f"words name the rows of a file, got {self.words!r} without one")
        if self.dim < 1:
            raise ConfigError(f"dim must be at least 1, got {self.dim}")


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

    @property
    def dataset_folder(self) -> str:
        """What the data set is called in `runs/` and `results/`."""
        return Path(self.data.name).stem

    def to_json(self) -> dict[str, Any]:
        """Every setting, defaults included."""
        return {
            "data": to_table(self.data),
            "text": to_table(self.text),
            "vectors": to_table(self.vectors),
            "model": {"name": self.model_name, **to_table(self.model)},
            "train": to_table(self.train),
            "run": to_table(self.run),
            "paper": dict(self.paper),
        }

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
    )
    _check_names(recipe, where)
    for file in filter(None, (recipe.vectors.file, recipe.vectors.words)):
        find_vectors(file, data_root)
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


def _check_names(recipe: Recipe, where: str) -> None:
    data = recipe.data
    if data.protocol and data.protocol not in PROTOCOLS:
        hint = did_you_mean(data.protocol, PROTOCOLS)
        raise ConfigError(f"{where}: no protocol {data.protocol!r}; {hint}")
    for measure in data.measures:
        canonical(measure)
    if data.depth < 0:
        raise ConfigError(f"{where}: data.depth must be 0 (all) or more, got {data.depth}")
    options = CATALOGUE[data.name].options if data.name in CATALOGUE else {}
    for option in data.options:
        if option not in options:
            hint = did_you_mean(option, options)
            raise ConfigError(f"{where}: {data.name} has no option {option!r}; {hint}")
    if data.name in CATALOGUE:
        check_measures(recipe, CATALOGUE[data.name].task, where)
        known = CATALOGUE[data.name].splits
        for split in (data.train, data.dev, data.test):
            if known and split not in known:
                hint = did_you_mean(split, known)
                raise ConfigError(f"{where}: {data.name} has no split {split!r}; {hint}")
    elif not Path(data.name).exists():
        hint = did_you_mean(data.name, CATALOGUE)
        raise DataError(f"{where}: {data.name!r} is neither a known data set nor a path; {hint}")


def check_measures(recipe: Recipe, task: Task, where: str) -> None:
    """Whether what is measured fits the data; of a path this is known once it is read."""
    examples = ", ".join(CLASSIFICATION) if task == "classification" else "AP, RR or nDCG@10"
    for key, names in (
        ("data.measures", recipe.data.measures),
        ("train.dev_measure", (recipe.train.dev_measure,)),
    ):
        for name in names:
            if (canonical(name) in CLASSIFICATION) != (task == "classification"):
                raise ConfigError(
                    f"{where}: {key} = {name!r} does not measure {task}, which is the task of "
                    f"{recipe.data.name}; use {examples}"
                )

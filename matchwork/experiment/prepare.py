"""From a recipe to data, tokenizer and an untrained matcher; done once for all seeds."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from json import dumps

import torch

from matchwork.config import to_table
from matchwork.data import CATALOGUE, Dataset, Split, load
from matchwork.data.classes import check_classes
from matchwork.data.partition import share_of
from matchwork.encode import Encoder
from matchwork.evaluate import REGRESSION, class_measures, task_of
from matchwork.experiment.condition import Condition
from matchwork.experiment.encoders import make_encoder
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.recipe.data import MAIN, DataSection, check_measures
from matchwork.matcher.matcher import Matcher, length_limits
from matchwork.models import MODELS
from matchwork.models.iasm.linked_words import LinkedWords, require_wordnet
from matchwork.models.iasm.word_links import UsesWordLinks, WordLinks
from matchwork.text import Tokenizer, WordTokenizer
from matchwork.train.samples import TrainingSet


@dataclass(frozen=True)
class Prepared:
    """What all seeds of a recipe share."""

    recipe: Recipe
    conditions: Mapping[str, Condition]
    tokenizer: Tokenizer
    encoder: Encoder
    links: LinkedWords | None = None

    @property
    def main(self) -> Condition:
        """The condition of `[data]`, on whose dev epochs are chosen."""
        return self.conditions[MAIN]

    @property
    def dataset(self) -> Dataset:
        """The data as `[data]` wants it."""
        return self.main.dataset

    @property
    def train(self) -> Split:
        """The split to learn from."""
        return self.dataset[self.recipe.data.train]

    @cached_property
    def samples(self) -> TrainingSet:
        """The training split, tokenised."""
        return self._tokenised(self.train)

    @cached_property
    def dev_samples(self) -> TrainingSet | None:
        """The dev split likewise, where its loss is asked for."""
        asked = self.recipe.train.dev_loss_every or self.recipe.stages
        return self._tokenised(self.main.dev.split) if asked else None

    def matcher(self, seed: int) -> Matcher:
        """An untrained matcher; equal seeds give equal weights."""
        recipe = self.recipe
        torch.manual_seed(seed)
        entry = MODELS[recipe.model_name]
        model = entry.model(recipe.model, deepcopy(self.encoder))
        if self.links is not None:
            assert isinstance(self.tokenizer, WordTokenizer)  # else there were no links
            assert isinstance(model, UsesWordLinks)  # see model_with_links
            model.link_words(WordLinks.from_words(self.links, self.tokenizer))
        return Matcher(
            self.tokenizer,
            model,
            name=recipe.model_name,
            max_query_length=recipe.text.max_query_length or None,
            max_document_length=recipe.text.max_document_length or None,
        )

    def rank_baselines(self) -> None:
        """Do now what the first measurement would do."""
        for condition in self.conditions.values():
            condition.baselines  # noqa: B018

    def complete(self) -> None:
        """Do now what else the first seed would do: processes can then share it."""
        self.recipe.train.make_sampler(self.samples)  # searches for hard negatives
        self.dev_samples  # noqa: B018

    @property
    def _limits(self) -> tuple[int | None, int | None]:
        """The most tokens of a query and of a document."""
        text = self.recipe.text
        return length_limits(self.recipe.model, text.max_query_length, text.max_document_length)

    def _tokenised(self, split: Split) -> TrainingSet:
        return TrainingSet.from_split(split, self.tokenizer, *self._limits)


def prepare(recipe: Recipe, data_root: str | None = None, like: Prepared | None = None) -> Prepared:
    """Read the data, fit the tokenizer on the training texts, fetch or learn the vectors.

    What `like` has already read for the same settings is taken from there.
    """
    if recipe.links and recipe.links.source == "wordnet":
        require_wordnet()  # now, not after minutes of reading
    if like is not None and shares_data(like, recipe):
        conditions = {
            name: like.conditions[name].with_section(section)
            for name, section in recipe.conditions.items()
        }
    else:
        conditions, like = _conditions(recipe, data_root), None
    dataset = conditions[MAIN].dataset
    where = f"recipe {recipe.name}"
    check_measures(recipe.conditions, recipe.train.dev_measure, dataset.task, where)
    for split in (split for one in conditions.values() for split in one.dataset.splits.values()):
        check_classes(split, dataset.task, recipe.model.num_classes, recipe.model_name)
    if like is not None and _text_settings(like.recipe) == _text_settings(recipe):
        return _reread(like, recipe, conditions)
    datasets = {name: condition.dataset for name, condition in conditions.items()}
    tokenizer, encoder = make_encoder(recipe, datasets, data_root)
    links = recipe.links.words(tokenizer, data_root) if recipe.links else None
    return Prepared(recipe, conditions, tokenizer, encoder, links)


def shares_data(like: Prepared, recipe: Recipe) -> bool:
    """Whether the recipe is trained and tested on what `like` has read."""
    return _data_settings(like.recipe) == _data_settings(recipe)


def _data_settings(recipe: Recipe) -> str:
    """All that decides what is read and how it is measured."""
    sections = {name: to_table(one.data) for name, one in recipe.conditions.items()}
    return dumps([sections, recipe.train.dev_measure, recipe.model.num_classes])


def _text_settings(recipe: Recipe) -> str:
    """All that decides, for the same data, how words become vectors."""
    settings = recipe.to_dict()
    return dumps([settings.get(key) for key in ("text", "vectors", "links")])


def _reread(like: Prepared, recipe: Recipe, conditions: Mapping[str, Condition]) -> Prepared:
    """Another recipe on the same words; texts are cut into tokens anew if at another length."""
    prepared = replace(like, recipe=recipe, conditions=conditions)
    if "samples" in vars(like) and prepared._limits == like._limits:
        vars(prepared)["samples"] = like.samples
    return prepared


def _conditions(recipe: Recipe, data_root: str | None) -> dict[str, Condition]:
    datasets = _load(recipe, data_root)
    return {
        name: Condition.of(
            name, section, datasets[name], recipe.train.dev_measure, recipe.model.num_classes
        )
        for name, section in recipe.conditions.items()
    }


def _load(recipe: Recipe, data_root: str | None) -> dict[str, Dataset]:
    """The data set as each condition wants it; those of equal options share one."""
    sharing: dict[str, list[str]] = {}
    for name, section in recipe.conditions.items():
        sharing.setdefault(dumps(section.data.options, sort_keys=True), []).append(name)
    datasets: dict[str, Dataset] = {}
    for names in sharing.values():
        sections = [recipe.conditions[name].data for name in names]
        splits = [recipe.data.train] if MAIN in names else []
        splits += [split for data in sections for split in (data.dev, data.test)]
        data = sections[0]
        dataset = load(
            data.name,
            data_root,
            list(dict.fromkeys(splits)),
            columns=data.column_names(),
            **data.options,
        )
        dataset = _with_task(dataset, recipe)
        if MAIN in names:
            dataset = _learn_from(dataset, recipe.data)
        datasets |= dict.fromkeys(names, dataset)
    return datasets


def _with_task(dataset: Dataset, recipe: Recipe) -> Dataset:
    """Nobody has said what data of one's own is for: the measure that chooses epochs does."""
    task = task_of(recipe.train.dev_measure)
    if recipe.data.name in CATALOGUE or dataset.task != "ranking" or task == "ranking":
        return dataset
    classes = class_measures(recipe.model.num_classes)
    return replace(dataset, task=task, measures=classes if task == "classification" else REGRESSION)


def _learn_from(dataset: Dataset, data: DataSection) -> Dataset:
    """The data set with `fraction` of its training split: the rest is not even tokenised."""
    if data.fraction == 1:
        return dataset
    part = share_of(dataset[data.train], data.fraction, dataset.task)
    return replace(dataset, splits={**dataset.splits, data.train: part})

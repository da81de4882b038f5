"""From a recipe to data, tokenizer and encoder, once for all of its seeds."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from json import dumps

import torch

from matchwork.data import CATALOGUE, Dataset, Split, load
from matchwork.data.classes import check_classes
from matchwork.data.partition import share_of
from matchwork.encode import Encoder, WordEmbedding, WordVectors, learn_vectors, load_transformer
from matchwork.evaluate import REGRESSION, class_measures, task_of
from matchwork.experiment.condition import Condition, make_condition
from matchwork.experiment.recipe import Recipe
from matchwork.experiment.recipe.data import MAIN, DataSection, check_measures
from matchwork.experiment.recipe.inputs import find_file, find_transformer
from matchwork.matcher.folder import length_limits
from matchwork.matcher.matcher import Matcher
from matchwork.models import MODELS
from matchwork.models.iasm.linked_words import LinkedWords, require_wordnet
from matchwork.models.iasm.word_links import UsesWordLinks, WordLinks
from matchwork.text import Tokenizer, WordTokenizer
from matchwork.train.samples import TrainingSet


@dataclass(frozen=True)
class Prepared:
    """The data, tokenizer and encoder that all seeds of a recipe share."""

    recipe: Recipe
    conditions: Mapping[str, Condition]
    tokenizer: Tokenizer
    encoder: Encoder
    links: LinkedWords | None
    samples: TrainingSet
    dev_samples: TrainingSet | None  # where the loss on dev is computed

    @property
    def main(self) -> Condition:
        """The condition of `[data]`, on whose dev epochs are chosen."""
        return self.conditions[MAIN]

    @property
    def dataset(self) -> Dataset:
        """The data set of `[data]`."""
        return self.main.dataset

    @property
    def train(self) -> Split:
        """The split to train on."""
        return self.dataset[self.recipe.data.train]

    def matcher(self, seed: int) -> Matcher:
        """Build an untrained matcher; equal seeds give equal weights."""
        recipe = self.recipe
        torch.manual_seed(seed)
        model = MODELS[recipe.model_name].model(recipe.model, deepcopy(self.encoder))
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


def prepare(
    recipe: Recipe,
    data_root: str | None = None,
    like: Prepared | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Prepared:
    """Read the data, rank baselines, fit the tokenizer, load or learn vectors, tokenise.

    What the recipe has in common with an earlier one (`like`) is not made again. `report` receives
    the name of each part of the work.
    """
    if recipe.links and recipe.links.source == "wordnet":
        require_wordnet()  # now, not after minutes of reading
    if like is not None and not shares_data(like, recipe):
        like = None
    conditions = _conditions(recipe, data_root, like, report)
    report("tokenising")
    if like is not None and _same_vectors(like.recipe, recipe):
        tokenizer, encoder, links = like.tokenizer, like.encoder, like.links
        known = like if _limits(like.recipe) == _limits(recipe) else None
    else:
        datasets = {name: condition.dataset for name, condition in conditions.items()}
        tokenizer, encoder = _make_encoder(recipe, datasets, data_root)
        links, known = recipe.links.words(tokenizer, data_root) if recipe.links else None, None

    def tokenised(split: Split) -> TrainingSet:
        return TrainingSet.from_split(split, tokenizer, *_limits(recipe))

    main = conditions[MAIN]
    samples = known.samples if known else tokenised(main.dataset[recipe.data.train])
    dev_samples = None
    if recipe.train.dev_loss_every or recipe.stages:
        dev_samples = (known.dev_samples if known else None) or tokenised(main.dev.split)
    return Prepared(recipe, conditions, tokenizer, encoder, links, samples, dev_samples)


def _conditions(
    recipe: Recipe, data_root: str | None, like: Prepared | None, report: Callable[[str], None]
) -> dict[str, Condition]:
    """Make every condition, or take those of `like` with the numbers published for this recipe."""
    if like is not None:
        conditions = {
            name: replace(like.conditions[name], section=section)
            for name, section in recipe.conditions.items()
        }
        _check_task(recipe, {name: one.dataset for name, one in conditions.items()})
        return conditions
    report(f"reading {recipe.data.name}")
    datasets = _load(recipe, data_root)
    _check_task(recipe, datasets)
    report("ranking with BM25")
    measure, classes = recipe.train.dev_measure, recipe.model.num_classes
    return {
        name: make_condition(name, section, datasets[name], measure, classes)
        for name, section in recipe.conditions.items()
    }


def _check_task(recipe: Recipe, datasets: Mapping[str, Dataset]) -> None:
    """Check measures and classes against the data, whose task may be known only now."""
    task = datasets[MAIN].task
    where = f"recipe {recipe.name}"
    check_measures(recipe.conditions, recipe.train.dev_measure, task, where)
    for split in (split for dataset in datasets.values() for split in dataset.splits.values()):
        check_classes(split, task, recipe.model.num_classes, recipe.model_name)


def _same_vectors(a: Recipe, b: Recipe) -> bool:
    """Return whether texts of the same data become the same vectors."""
    return (a.text, a.vectors, a.links) == (b.text, b.vectors, b.links)


def _limits(recipe: Recipe) -> tuple[int | None, int | None]:
    """Return the most tokens of a query and of a document."""
    text = recipe.text
    return length_limits(recipe.model, text.max_query_length, text.max_document_length)


def shares_data(like: Prepared, recipe: Recipe) -> bool:
    """Return whether a recipe reads and measures the data as `like` does."""

    def settings(recipe: Recipe) -> list[object]:
        sections = {name: one.data for name, one in recipe.conditions.items()}
        return [sections, recipe.train.dev_measure, recipe.model.num_classes]

    return settings(like.recipe) == settings(recipe)


def _load(recipe: Recipe, data_root: str | None) -> dict[str, Dataset]:
    """Load the data set of each condition; conditions with equal options share one."""
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
            dataset = _take_fraction(dataset, recipe.data)
        datasets |= dict.fromkeys(names, dataset)
    return datasets


def _with_task(dataset: Dataset, recipe: Recipe) -> Dataset:
    """Set the task of a user's own data, which follows from the measure that chooses epochs."""
    task = task_of(recipe.train.dev_measure)
    if recipe.data.name in CATALOGUE or dataset.task != "ranking" or task == "ranking":
        return dataset
    classes = class_measures(recipe.model.num_classes)
    return replace(dataset, task=task, measures=classes if task == "classification" else REGRESSION)


def _take_fraction(dataset: Dataset, data: DataSection) -> Dataset:
    """Return the data set with the `fraction` of its training split; the rest is dropped."""
    if data.fraction == 1:
        return dataset
    part = share_of(dataset[data.train], data.fraction, dataset.task)
    return replace(dataset, splits={**dataset.splits, data.train: part})


def _make_encoder(
    recipe: Recipe, datasets: Mapping[str, Dataset], data_root: str | None = None
) -> tuple[Tokenizer, Encoder]:
    """Return a transformer with its tokenizer, or the words of the training texts with vectors."""
    settings = recipe.vectors
    if settings.source == "transformer":
        return load_transformer(
            find_transformer(settings.file, data_root),
            unit=settings.unit,
            layer=settings.layer,
            trainable=settings.trainable,
            special_tokens=settings.special_tokens,
            cross_encode=settings.cross_encode,
        )
    train_texts = datasets[MAIN][recipe.data.train].texts
    vectors = _read_vectors(recipe, data_root)
    tokenizer = WordTokenizer.fit(
        train_texts,
        vector_words=_vector_words(vectors, recipe, datasets.values()),
        min_count=recipe.text.min_count,
        config=recipe.text.tokenizer,
    )
    if settings.source == "corpus":
        corpus = tokenizer.encode(train_texts)
        learnt = learn_vectors(corpus, tokenizer.vocab_size, dim=settings.dim)
        vectors = WordVectors(tokenizer.vocabulary.words, learnt)
    embedding = WordEmbedding.from_vocabulary(
        tokenizer.vocabulary,
        vectors,
        dim=settings.dim,
        trainable=settings.trainable,
        unknown=settings.unknown,
    )
    return tokenizer, embedding


def _read_vectors(recipe: Recipe, data_root: str | None) -> WordVectors | None:
    if recipe.vectors.source != "file":
        return None
    words = recipe.vectors.words
    return WordVectors.load(
        find_file(recipe.vectors.file, data_root, "vectors"),
        find_file(words, data_root, "vectors") if words else None,
    )


def _vector_words(
    vectors: WordVectors | None, recipe: Recipe, datasets: Iterable[Dataset]
) -> list[str]:
    if vectors is None:
        return []
    if recipe.vectors.vocabulary == "all":
        return vectors.words
    splits = [split for dataset in datasets for split in dataset.splits.values()]
    texts = [text for split in splits for text in split.texts]
    used = WordTokenizer.fit(texts, config=recipe.text.tokenizer).vocabulary
    return [word for word in vectors.words if word in used]

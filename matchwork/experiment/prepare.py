"""From a recipe to data, tokenizer and an untrained matcher; done once for all seeds."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from matchwork.data import Dataset, Split, load
from matchwork.encode import WordEmbedding, WordEmbeddingConfig, WordVectors, learn_vectors
from matchwork.experiment.recipe import Recipe, check_measures
from matchwork.experiment.vector_files import find_vectors
from matchwork.models import MODELS
from matchwork.rank.matcher import Matcher
from matchwork.rank.measured import MeasuredSplit
from matchwork.text import CorpusStatistics, WordTokenizer
from matchwork.train.samples import TrainingSet


@dataclass(frozen=True)
class Prepared:
    """What all seeds of a recipe share."""

    recipe: Recipe
    dataset: Dataset
    tokenizer: WordTokenizer
    table: Tensor

    @property
    def train(self) -> Split:
        """The split to learn from."""
        return self.dataset[self.recipe.data.train]

    @cached_property
    def samples(self) -> TrainingSet:
        """The training split, tokenised."""
        text = self.recipe.text
        return TrainingSet.from_split(
            self.train,
            self.tokenizer,
            text.max_query_length or None,
            text.max_document_length or None,
        )

    @cached_property
    def dev(self) -> MeasuredSplit:
        """Where choices are made: measured by the dev measure alone."""
        return self._measured(self.recipe.data.dev, (self.recipe.train.dev_measure,))

    @cached_property
    def test(self) -> MeasuredSplit:
        """Where results are reported."""
        measures = self.recipe.data.measures or self.dataset.measures
        return self._measured(self.recipe.data.test, measures)

    def _measured(self, split: str, measures: tuple[str, ...]) -> MeasuredSplit:
        data = self.recipe.data
        return MeasuredSplit(
            self.dataset[split],
            data.protocol or self.dataset.protocol,
            measures,
            self.dataset.task,
            data.depth or None,
        )

    def matcher(self, seed: int) -> Matcher:
        """An untrained matcher; equal seeds give equal weights."""
        recipe = self.recipe
        torch.manual_seed(seed)
        config = WordEmbeddingConfig(
            vocab_size=self.tokenizer.vocab_size,
            dim=self.table.shape[1],
            trainable=recipe.vectors.trainable,
            unknown=recipe.vectors.unknown,
        )
        entry = MODELS[recipe.model_name]
        model = entry.model(recipe.model, WordEmbedding(config, self.table))
        return Matcher(
            self.tokenizer,
            model,
            name=recipe.model_name,
            statistics=self._statistics,
            max_query_length=recipe.text.max_query_length or None,
            max_document_length=recipe.text.max_document_length or None,
        )

    @cached_property
    def _statistics(self) -> CorpusStatistics:
        return CorpusStatistics.fit(self.samples.documents)


def prepare(recipe: Recipe, data_root: str | None = None) -> Prepared:
    """Read the data, fit the tokenizer on the training texts, fetch or learn the vectors."""
    data = recipe.data
    wanted = list(dict.fromkeys([data.train, data.dev, data.test]))
    dataset = load(data.name, data_root, wanted, columns=data.column_names(), **data.options)
    check_measures(recipe, dataset.task, f"recipe {recipe.name}")
    vectors = None
    if recipe.vectors.source == "file":
        path = find_vectors(recipe.vectors.file, data_root)
        words = recipe.vectors.words
        vectors = WordVectors.load(path, find_vectors(words, data_root) if words else None)
    tokenizer = WordTokenizer.fit(
        dataset[data.train].texts,
        vector_words=_vector_words(vectors, recipe, dataset),
        min_count=recipe.text.min_count,
        config=recipe.text.tokenizer(),
    )
    if recipe.vectors.source == "corpus":
        corpus = tokenizer.encode(dataset[data.train].texts)
        learnt = learn_vectors(corpus, tokenizer.vocab_size, dim=recipe.vectors.dim)
        vectors = WordVectors(tokenizer.vocabulary.words, learnt)
    embedding = WordEmbedding.from_vocabulary(
        tokenizer.vocabulary, vectors, dim=recipe.vectors.dim, unknown=recipe.vectors.unknown
    )
    return Prepared(recipe, dataset, tokenizer, embedding.table)


def _vector_words(vectors: WordVectors | None, recipe: Recipe, dataset: Dataset) -> list[str]:
    if vectors is None:
        return []
    if recipe.vectors.keep == "all":
        return vectors.words
    texts = [text for split in dataset.splits.values() for text in split.texts]
    used = WordTokenizer.fit(texts, config=recipe.text.tokenizer()).vocabulary
    return [word for word in vectors.words if word in used]

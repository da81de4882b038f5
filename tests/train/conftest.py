"""The toy questions as training samples, and matchers over them that learn in a second."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from matchwork.data import Dataset, toy
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer
from matchwork.train import TrainConfig, TrainingSet

MakeMatcher = Callable[..., Matcher]
MakeConfig = Callable[..., TrainConfig]


@pytest.fixture(scope="session")
def questions() -> Dataset:
    return toy()


@pytest.fixture(scope="session")
def words(questions: Dataset) -> WordTokenizer:
    return WordTokenizer.fit(questions["train"].texts)


@pytest.fixture(scope="session")
def samples(questions: Dataset, words: WordTokenizer) -> TrainingSet:
    return TrainingSet.from_split(questions["train"], words)


@pytest.fixture
def matcher(words: WordTokenizer) -> MakeMatcher:
    """`matcher("bag", seed=0)`: untrained, equal seeds give equal weights."""

    def make(name: str = "bag", seed: int = 0, dim: int = 8, **config: Any) -> Matcher:
        torch.manual_seed(seed)
        entry = MODELS[name]
        encoder = WordEmbedding.from_vocabulary(words.vocabulary, dim=dim, trainable=True)
        return Matcher(words, entry.model(entry.config(config), encoder))

    return make


@pytest.fixture
def config() -> MakeConfig:
    """Three batches per epoch, on the CPU."""

    def make(**settings: Any) -> TrainConfig:
        defaults = {
            "loss": "softmax",
            "negatives": "own",
            "num_negatives": 2,
            "batch_size": 4,
            "max_epochs": 2,
            "learning_rate": 0.01,
            "accelerator": "cpu",
        }
        return TrainConfig(**{**defaults, **settings})

    return make

"""Fixtures of the whole suite: small real matchers, quick and repeatable everywhere."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings
from tiny_transformers import save_transformer, tiny_encoder

from matchwork.encode import Encoder, WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS, MatchModel, Model
from matchwork.text import WordTokenizer

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")
torch.set_num_threads(1)

PAIRS = [
    ("who wrote hamlet", "the play was written by shakespeare"),
    ("where is the louvre", "a large museum in the centre of paris"),
    ("how tall is everest", "the mountain rises 8849 metres above the sea"),
    ("what do pandas eat", "bamboo almost nothing but bamboo"),
    ("why is the sky blue", "air scatters short waves of light more than long ones"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = os.environ.get("MATCHWORK_DATA")
    if root and Path(root).is_dir():
        return
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(pytest.mark.skip(reason="MATCHWORK_DATA names no folder"))


def pytest_collection_finish() -> None:
    """What is imported by now stays: collecting garbage around it took up to half a test's time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_stage_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What an earlier version of the code has learnt must not pass for that of today."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATCHWORK_STAGE_CACHE", str(tmp_path_factory.mktemp("stages")))
        yield


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """Questions and answers with hardly a word in common."""
    return PAIRS


@pytest.fixture(scope="session")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.fit(text for pair in PAIRS for text in pair)


@pytest.fixture
def tiny_model(tokenizer: WordTokenizer) -> Callable[..., Model]:
    """Any registered model on small trainable vectors: `tiny_model(name, seed=0, **config)`."""

    def make(name: str, seed: int = 0, dim: int = 8, **config: Any) -> Model:
        torch.manual_seed(seed)
        entry = MODELS[name]
        encoder: Encoder
        if issubclass(entry.model, MatchModel):
            encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=dim, trainable=True)
        else:  # words can only see each other in a transformer
            encoder = tiny_encoder(tokenizer.vocab_size, dim)
        return entry.model(entry.config(config), encoder).eval()

    return make


@pytest.fixture
def tiny_matcher(
    tokenizer: WordTokenizer, tiny_model: Callable[..., Model]
) -> Callable[..., Matcher]:
    """The same with its tokenizer: `tiny_matcher(name, seed=0, **config)`."""

    def make(name: str, seed: int = 0, dim: int = 8, **config: Any) -> Matcher:
        return Matcher(tokenizer, tiny_model(name, seed, dim, **config))

    return make


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT with a WordPiece tokenizer."""
    return save_transformer(tmp_path_factory.mktemp("transformers") / "bert")


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random RoBERTa with a byte-level tokenizer."""
    return save_transformer(tmp_path_factory.mktemp("transformers") / "roberta", "roberta")

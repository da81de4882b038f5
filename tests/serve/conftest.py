"""Small trained matchers and servers that run for the whole session."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from server_process import (
    MAX_DOCUMENT_TOKENS,
    PROGRAM,
    SLOW,
    SLOW_SETTINGS,
    Server,
    running,
)

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.models import MODELS
from matchwork.rank import Matcher
from matchwork.text import WordTokenizer
from matchwork.train import train

TRAINING = {"max_epochs": 2, "accelerator": "cpu", "learning_rate": 0.05}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two matchers trained on the toy data."""
    data, place = toy(), tmp_path_factory.mktemp("served")
    tokenizer = WordTokenizer.fit(data["train"].texts)
    made = {}
    for name in ("bag", "knrm"):
        torch.manual_seed(1)
        entry = MODELS[name]
        encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=16, trainable=True)
        model = entry.model(entry.config({}), encoder)
        matcher = Matcher(tokenizer, model, max_document_length=MAX_DOCUMENT_TOKENS)
        train(matcher, data, seed=1, **TRAINING)
        made[name] = place / name
        matcher.save(made[name])
    return made


@pytest.fixture(scope="session")
def matcher(folders: dict[str, Path]) -> Matcher:
    """What the server named `bag` should answer."""
    return Matcher.load(folders["bag"])


@pytest.fixture(scope="session")
def server(folders: dict[str, Path]) -> Iterator[Server]:
    """`matchwork serve` with three models."""
    with running(*PROGRAM, folders["bag"], f"kernels={folders['knrm']}", "bm25") as server:
        yield server


@pytest.fixture(scope="session")
def slow() -> Iterator[Server]:
    """A slow scorer with a short queue, a deadline and keys."""
    with running(*SLOW, SLOW_SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
def question() -> tuple[str, list[str]]:
    """A query of the toy data and its candidates."""
    split = toy()["test"]
    assert split.candidates is not None
    query, candidates = next(iter(split.candidates.items()))
    return split.queries[query], [split.documents[each] for each in candidates]

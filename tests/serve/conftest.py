"""Small trained matchers and servers that run for the whole session."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from server_process import (
    PROGRAM,
    SLOW,
    SLOW_SETTINGS,
    Server,
    running,
)
from toy_matchers import train_matchers

from matchwork.data import toy
from matchwork.matcher import Matcher


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two matchers trained on the toy data."""
    return train_matchers(tmp_path_factory.mktemp("served"), "bag", "knrm")


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

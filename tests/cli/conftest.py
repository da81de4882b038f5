"""A small saved matcher and a way to call the program without starting a process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

from matchwork.cli.main import app
from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.rank import Calibration
from matchwork.text import WordTokenizer

Call = Callable[..., Result]


@pytest.fixture(scope="session")
def matcher_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained bag over the toy texts: enough for every command."""
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit(text for split in toy().splits.values() for text in split.texts)
    entry = MODELS["bag"]
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=16)
    model = entry.model(entry.config({}), encoder)
    folder = tmp_path_factory.mktemp("cli") / "bag"
    Matcher(tokenizer, model, calibration=Calibration(0.5, -4.0)).save(folder)
    return folder


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`untrained(name, **settings)`: a folder of any model over the toy's training texts."""

    def make(name: str, **settings: Any) -> Path:
        torch.manual_seed(0)
        tokenizer = WordTokenizer.fit(toy()["train"].texts)
        encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
        entry = MODELS[name]
        path = tmp_path_factory.mktemp(name) / "matcher"
        Matcher(tokenizer, entry.model(entry.config(settings), encoder)).save(path)
        return path

    return make


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    """`call("rank", folder, ...)`: what the program would do, at a width of 100 letters."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("MATCHWORK_DEBUG", raising=False)

    def invoke(*arguments: object, input: str | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)

    return invoke


@pytest.fixture
def call_json(call: Call) -> Callable[..., Any]:
    """The same with `--json`: the value on stdout, after checking that all went well."""

    def invoke(*arguments: object, input: str | None = None) -> Any:
        result = call(*arguments, "--json", input=input)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return invoke

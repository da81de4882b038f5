"""The demo from end to end, on the docstrings of a few standard packages."""

import json
from pathlib import Path

import numpy as np
import pytest

from matchwork.cli import demo as command
from matchwork.data.sets import pydocs
from matchwork.demo import DemoResult, run, run_demo
from matchwork.experiment import Observer
from matchwork.matcher import Matcher

PACKAGES = ("argparse", "asyncio", "collections", "email", "http", "logging", "unittest", "urllib")


class Listener(Observer):
    def __init__(self) -> None:
        self.stages: list[str] = []
        self.epochs = 0

    def stage(self, text: str) -> None:
        self.stages.append(text)

    def epoch(self, seed: int, record) -> None:
        self.epochs += 1


@pytest.fixture(scope="module")
def listener() -> Listener:
    return Listener()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, listener: Listener) -> DemoResult:
    folder = tmp_path_factory.mktemp("demo")
    small = pydocs.build(cache=folder / "cache", packages=PACKAGES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "load", lambda name: {"pydocs": small}[name])
        return run_demo(folder / "out", listener)


def test_three_systems_are_measured_on_the_test_queries(result: DemoResult) -> None:
    assert list(result.evaluations) == ["BM25", "K-NRM", "BM25 + K-NRM"]
    queries = set(result.dataset["test"].queries)
    assert all(set(found.queries) == queries for found in result.evaluations.values())
    assert list(result.comparisons) == ["K-NRM", "BM25 + K-NRM"]
    assert 0 <= result.weight <= 1


def test_everything_is_left_on_disk(result: DemoResult) -> None:
    assert result.picture.read_bytes().startswith(b"\x89PNG")
    page = result.report.read_text()
    assert "BM25 + K-NRM" in page and all(query in page for query in result.examples)
    matcher = Matcher.load(result.matcher_folder)
    explained = result.explanation
    score = matcher.score([(explained.query, explained.document)])[0]
    np.testing.assert_allclose(score, explained.score, rtol=1e-6)
    assert matcher.calibration is not None


def test_three_examples_are_ranked(result: DemoResult) -> None:
    assert len(result.examples) == 3
    for hits in result.examples.values():
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert all(hit.document.id in result.dataset["test"].documents for hit in hits)


def test_progress_is_told(result: DemoResult, listener: Listener) -> None:
    assert listener.epochs == run.TRAINING.max_epochs
    assert len(listener.stages) >= 6


def test_the_command_prints_a_table_and_json(
    result: DemoResult, capsys: pytest.CaptureFixture[str]
) -> None:
    command._print(result)
    printed = capsys.readouterr().out
    assert "BM25 + K-NRM" in printed and "Next:" in printed
    assert max(map(len, printed.split("Next:")[0].splitlines()[:8])) <= 80
    table = json.loads(json.dumps(result.to_dict()))
    assert table["systems"]["BM25"]["measures"].keys() == set(run.MEASURES)
    assert Path(table["matcher"]) == result.matcher_folder

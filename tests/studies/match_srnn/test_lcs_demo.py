"""The LCS demo on few pairs and few epochs, and the figures of matchers known by heart."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from matchwork.cli import demo as command
from matchwork.data import Dataset, Split
from matchwork.data.sets.lcs import lcs
from matchwork.experiment import Observer, load_recipe
from matchwork.matcher import Matcher
from matchwork.studies.match_srnn import LCSDemo, lcs_figures, lcs_grids, run_lcs_demo
from matchwork.studies.match_srnn import lcs as demo
from matchwork.studies.match_srnn.report import figure_rows, path_line

ROOT = Path(__file__).parents[3]
SCALE = 1e-3  # of the states of the hand-set matcher


def first(split: Split, number: int) -> Split:
    queries = dict(list(split.queries.items())[:number])
    return replace(
        split,
        queries=queries,
        candidates={query: split.candidates[query] for query in queries},
        qrels={query: split.qrels[query] for query in queries},
    )


@pytest.fixture(scope="module")
def small() -> Dataset:
    whole = lcs()
    return replace(whole, splits={n: first(split, 300) for n, split in whole.splits.items()})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, small: Dataset) -> LCSDemo:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "load", lambda name: {"lcs": small}[name])
        patch.setitem(demo.TRAINING, "max_epochs", 2)
        return run_lcs_demo(tmp_path_factory.mktemp("lcs"), Observer(), seeds=(1, 2))


@pytest.fixture
def perfect(small: Dataset) -> Matcher:
    """Dynamic programming in the weights: states are `SCALE` times the length, tanh or not."""
    matcher = demo.untrained_matcher(small, seed=0)
    sharp = 60 / SCALE
    weights = {
        "gate": [[0, 0, sharp, 60], [0, sharp, 0, 0], [sharp, 0, 0, 0], [0, 0, 0, 0]],
        "gate_bias": [0, 0, 0, -1e4],
        "input": [SCALE],
        "state": [0, 0, 1],
        "bias": [0],
    }
    with torch.no_grad():
        for name, values in weights.items():
            parameter = matcher.model.gru[name]
            parameter.copy_(torch.tensor(values, dtype=torch.float32).view_as(parameter))
    return matcher


def test_dynamic_programming_gets_full_marks(perfect: Matcher, small: Dataset) -> None:
    test = replace(small["test"], label_scale=1 / SCALE)  # its states are in thousandths
    found = lcs_figures(perfect, test)
    assert found.mse < 1e-10
    assert (found.exact, found.path_agreement) == (1.0, 1.0)
    assert found.cell_error < 1e-3


def test_an_untrained_matcher_gets_none(small: Dataset) -> None:
    found = lcs_figures(demo.untrained_matcher(small, seed=0), small["test"])
    assert found.exact < 0.5
    assert found.cell_error > 0.3
    assert found.path_agreement < 0.7


def test_figures_are_those_of_the_measures(result: LCSDemo) -> None:
    matcher, test = Matcher.load(result.matcher_folder), result.dataset["test"]
    pairs = list(test.pairs())
    scores = matcher.score([(pair.query, pair.document) for pair in pairs])
    labels = np.array([pair.label for pair in pairs])
    assert result.figures[1].mse == pytest.approx(np.mean((scores - labels / 10) ** 2), rel=1e-5)
    assert result.figures[1].exact == pytest.approx(np.mean(np.rint(scores * 10) == labels))


def test_grids_come_in_the_order_of_the_pairs(perfect: Matcher) -> None:
    pairs = [("A", "B A"), ("A B C", "A B C"), ("D", "D")]
    grids = list(lcs_grids(perfect, pairs, 1 / SCALE))
    assert [grid.query for grid in grids] == [["A"], ["A", "B", "C"], ["D"]]
    for grid in grids:
        np.testing.assert_allclose(grid.states, grid.lcs, atol=1e-3)
        np.testing.assert_allclose(grid.gates.sum(axis=0), 1.0, atol=1e-6)


def test_the_path_of_the_papers_example_in_words(perfect: Matcher) -> None:
    grid = next(lcs_grids(perfect, [demo.EXAMPLE], 1 / SCALE))
    expected = "(5, 5) → (4, 5) [D] → (3, 4) → (3, 3) [C] → (2, 2) → (1, 2) [A]"
    assert path_line(grid) == expected


def test_everything_is_left_on_disk(result: LCSDemo) -> None:
    page = result.report.read_text()
    assert "ABCDE against FACGD" in page and page.count("<figure>") == 3
    assert "-0.00" not in page
    assert all(row[0] in page for row in figure_rows(result))
    assert list(result.figures) == [1, 2]
    assert result.figures[1] != result.figures[2]


def test_the_command_prints_tables_and_json(
    result: LCSDemo, capsys: pytest.CaptureFixture[str]
) -> None:
    command._print_lcs(result)
    printed = capsys.readouterr().out
    for caption in ("(a) Dynamic programming", "(b) What Match-SRNN learnt", "(c) Its gates"):
        assert caption in printed
    assert "Path back: (5, 5) → " in printed
    table = json.loads(json.dumps(result.to_dict()))
    assert table["example"]["lcs"][-1] == [0, 1, 2, 2, 3]
    assert table["mean"]["mse"] == pytest.approx(
        np.mean([seed["mse"] for seed in table["seeds"].values()])
    )


def test_the_recipe_and_the_demo_train_alike() -> None:
    recipe = load_recipe(ROOT / "recipes/lcs/match-srnn-adam.toml")
    assert recipe.model == demo.MODEL
    assert recipe.run.seeds == demo.SEEDS
    assert {key: getattr(recipe.train, key) for key in demo.TRAINING} == demo.TRAINING
    paper = load_recipe(ROOT / "recipes/lcs/match-srnn.toml")
    assert (paper.model, paper.train.optimizer) == (demo.MODEL, "adagrad")

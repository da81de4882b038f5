"""A recipe for a regression: least error on dev is kept, BM25 is a line, the result says so."""

from dataclasses import replace

import numpy as np
import pytest

from matchwork.data import CATALOGUE, Dataset, load
from matchwork.data.sets.lcs import lcs
from matchwork.errors import ConfigError
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.experiment.recipe import make_recipe
from matchwork.experiment.runner import run_recipe
from matchwork.text import WordTokenizer
from matchwork.train.samples import TrainingSet

TABLES = {
    "data": {"name": "lcs"},
    "vectors": {"dim": 1},
    "model": {
        "name": "match-srnn",
        "interaction": "indicator",
        "units": 1,
        "reset": False,
        "head": "state",
    },
    "train": {
        "loss": "squared",
        "negatives": "labelled",
        "optimizer": "adam",
        "learning_rate": 0.3,  # large, so that the last epoch is not the best
        "max_epochs": 6,
        "dev_measure": "MSE",
    },
    "run": {"seeds": [1]},
}


def small() -> Dataset:
    whole = lcs()
    splits = {}
    for name, split in whole.splits.items():
        kept = list(split.queries)[:200]
        splits[name] = replace(
            split,
            queries={query: split.queries[query] for query in kept},
            candidates={query: split.candidates[query] for query in kept},
            qrels={query: split.qrels[query] for query in kept},
        )
    return replace(whole, splits=splits)


def test_the_result_of_a_regression(tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE._entries, "lcs", replace(CATALOGUE["lcs"], build=small))
    result = run_recipe(make_recipe("lcs", TABLES, "here"), tmp_path)
    assert list(result["measures"]) == ["MSE", "Exact"]
    assert list(result["systems"]) == ["BM25"]  # nothing to fuse
    history = [float(line.split(",")[2]) for line in _history(tmp_path)]
    (seed,) = result["per_seed"]
    assert seed["dev"] == pytest.approx(min(history))
    assert seed["best_epoch"] == int(np.argmin(history)) + 1
    measure = result["measures"]["MSE"]
    assert measure["difference"] == pytest.approx(
        measure["mean"] - result["systems"]["BM25"]["MSE"]["mean"]
    )
    squares = result["per_query"]["MSE"]
    assert len(squares) == 200 and min(squares.values()) >= 0


def _history(folder):
    path = next(folder.rglob("history.csv"))
    header, *lines = path.read_text().splitlines()
    assert header.split(",")[2] == "MSE"
    return lines


def test_a_straight_line_makes_any_score_a_length():
    dev = MeasuredSplit(small()["dev"], "raw", ("MSE",), "regression")
    run = {
        query: {document: 7 - 2 * dev.split.label(query, document) for document in pool}
        for query, pool in dev.split.candidates.items()
    }
    assert dev.evaluate(run)["MSE"] > 1
    assert dev.evaluate(dev.fit_line(run)(run))["MSE"] == pytest.approx(0, abs=1e-20)


def test_training_targets_are_divided_by_the_label_scale():
    split = small()["train"]
    samples = TrainingSet.from_split(split, WordTokenizer.fit(split.texts))
    labels = np.array([pair.label for pair in split.pairs()])
    np.testing.assert_allclose(samples.labels, labels / 10, rtol=1e-6)


@pytest.mark.parametrize(
    ("dataset", "measure", "message"),
    [
        ("lcs", "RR", r"train.dev_measure = 'RR' does not measure regression.*use MSE, Exact"),
        ("toy", "MSE", r"train.dev_measure = 'MSE' does not measure ranking.*use AP, RR"),
    ],
)
def test_a_measure_of_another_task_is_refused(dataset, measure, message):
    tables = {
        **TABLES,
        "data": {"name": dataset},
        "train": {**TABLES["train"], "dev_measure": measure},
    }
    with pytest.raises(ConfigError, match=message):
        make_recipe("lcs", tables, "here")


def test_the_whole_set_loads():
    assert len(load("lcs")["train"].queries) == 10_000

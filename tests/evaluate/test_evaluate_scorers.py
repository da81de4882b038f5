"""`evaluate`: a scorer on a split as well as a run against judgements."""

import numpy as np
import pytest

import matchwork as mw
from matchwork.data import Split
from matchwork.errors import ConfigError
from matchwork.evaluate import evaluate, evaluate_classification
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.rank import BM25
from matchwork.rank.calibration import Calibration


class Classes:
    """A scorer of three classes that always favours the second."""

    name = "classes"
    num_classes = 3

    def classify(self, pairs):
        return np.array([[0.2, 0.5, 0.3] for _ in pairs])

    def score(self, pairs):
        return np.zeros(len(list(pairs)))


def test_a_scorer_and_a_run_give_the_same_numbers():
    split, seen = mw.toy()["test"], []
    scorer = BM25.fit(split.documents)
    run = MeasuredSplit(split, "raw", ["AP"]).run(scorer)
    found = mw.evaluate(scorer, split, progress=lambda done, total: seen.append((done, total)))
    assert isinstance(found, mw.Evaluation) and list(found.values) == ["AP", "RR"]
    assert found.per_query == evaluate(run, split.qrels).per_query
    assert found.per_query == evaluate(run, split).per_query
    assert seen[-1] == (24, 24)


def test_a_collection_is_searched_first():
    documents = {f"d{number}": f"word{number} same" for number in range(9)}
    split = Split("test", {"q": "word3 same"}, documents, {"q": {"d3": 1, "d8": 1}})
    scorer = BM25.fit(documents)
    assert evaluate(scorer, split, ["R@9"], depth=1)["R@9"] == 0.5
    assert evaluate(scorer, split, ["R@9"], depth=None)["R@9"] == 1.0


def test_the_measures_decide_the_task():
    split = mw.toy()["dev"]
    scorer = BM25.fit(split.documents)
    found = evaluate(scorer, split, ["Accuracy", "F1"])
    measured = MeasuredSplit(split, "raw", ["Accuracy", "F1"], "classification")
    assert found.values == measured.evaluate(measured.run(scorer)).values
    scorer.calibration = Calibration(0.0, -1.0)  # nothing is a match
    assert evaluate(scorer, split, ["Accuracy"])["Accuracy"] == 0.75
    with pytest.raises(ConfigError, match="classification and ranking do not mix"):
        evaluate(scorer, split, ["AP", "F1"])


def test_several_classes_are_measured_by_the_most_probable():
    qrels = {"q": {"a": 0, "b": 1, "c": 2}}
    split = Split("test", {"q": "?"}, dict.fromkeys("abc", "text"), qrels, {"q": ("a", "b", "c")})
    found = evaluate(Classes(), split, ["Accuracy"])
    assert found.values == evaluate_classification([1, 1, 1], [0, 1, 2], ["Accuracy"]).values
    assert evaluate(Classes(), split, ["RR"])["RR"] == 0.5


def test_what_does_not_belong_together():
    with pytest.raises(ConfigError, match="a scorer and a split, or a run and judgements"):
        evaluate(Classes(), {"q": {"a": 1}})

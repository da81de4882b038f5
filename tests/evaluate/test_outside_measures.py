"""Measures of each task and a protocol, in one file of a package outside the tree."""

import sys

import numpy as np
import pytest

from matchwork.errors import ConfigError
from matchwork.evaluate import (
    MEASURES,
    PROTOCOLS,
    compare,
    evaluate,
    evaluate_classification,
    evaluate_regression,
    gain,
    task_of,
)
from matchwork.evaluate.measures import parse_measure
from matchwork.plugins import import_plugins

MODULE = """
import numpy as np

from matchwork.evaluate import MEASURES, PROTOCOLS, MeasureKind, Protocol

def relevant_share(grades, judgements, cutoff=None):
    return np.mean([grade > 0 for grade in grades[:cutoff]])

def squared_class_error(predicted, actual, classes):
    return (predicted - actual) ** 2.0

def absolute_error(scores, labels, label_scale):
    return np.abs(scores - labels / label_scale)

def at_least_two(judged, ranked):
    return len(judged) > 1

PROTOCOLS.add("two-judged", Protocol(at_least_two))
MEASURES.add("Share", MeasureKind("ranking", relevant_share, options=("cutoff",)))
MEASURES.add("Ordinal", MeasureKind("classification", squared_class_error, lower_is_better=True))
MEASURES.add("MAE", MeasureKind("regression", absolute_error, lower_is_better=True))
"""


@pytest.fixture(autouse=True)
def outside(tmp_path, monkeypatch):
    for registry in (MEASURES, PROTOCOLS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "outside_measures.py").write_text(MODULE)
    parse_measure.cache_clear()
    import_plugins(["outside_measures"])
    yield
    sys.modules.pop("outside_measures")
    parse_measure.cache_clear()


def test_ranking_beside_measures_of_trec_eval():
    qrels = {"q": {"a": 1, "b": 0, "c": 1}, "not ranked": {"a": 1}}
    run = {"q": {"b": 3.0, "a": 2.0, "new": 1.0}}
    found = evaluate(run, qrels, ["Share@2", "RR", "Share"])
    assert list(found.values) == ["Share@2", "RR", "Share"]
    assert found.per_query["Share@2"] == {"q": 0.5, "not ranked": 0.0}
    assert found["Share"] == pytest.approx(1 / 6) and found["RR"] == 0.25
    assert task_of("Share@3") == "ranking"
    with pytest.raises(ConfigError, match=r"Share takes cutoff, not 'rel'"):
        evaluate(run, qrels, ["Share(rel=2)"])


def test_classification_and_regression():
    good = evaluate_classification([2, 0, 1], [2, 1, 1], ["Ordinal", "Accuracy"])
    bad = evaluate_classification([0, 0, 1], [2, 1, 1], ["Ordinal", "Accuracy"])
    assert good["Ordinal"] == pytest.approx(1 / 3) and gain("Ordinal", -1) == 1
    assert compare(good, bad)["Ordinal"].wins == 1
    assert evaluate_regression(np.array([0.1, 0.5]), [2, 5], ["MAE"], 10)["MAE"] == pytest.approx(
        0.05
    )


def test_a_protocol():
    qrels = {"two": {"a": 1, "b": 0}, "one": {"a": 1}}
    found = evaluate({"two": {"a": 1.0}}, qrels, ["RR"], "two-judged")
    assert (found.queries, found.num_dropped, found["RR"]) == (("two",), 1, 1.0)

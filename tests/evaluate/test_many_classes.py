"""More than two classes: both macro-F1, the F1 of each, and what resampling makes of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError
from matchwork.evaluate import (
    canonical,
    class_measures,
    compare,
    evaluate_classification,
    task_of,
)

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def precision_and_recall(predicted, actual, label):
    hits = sum(p == a == label for p, a in zip(predicted, actual, strict=True))
    return hits / max(1, list(predicted).count(label)), hits / max(1, list(actual).count(label))


def slow_harmonic(first, second):
    return 2 * first * second / (first + second) if first + second else 0.0


@given(pairs=LABELS)
def test_every_measure_against_plain_loops(pairs):
    predicted, actual = zip(*pairs, strict=True)
    found = evaluate_classification(np.eye(4)[list(predicted)], actual)
    assert list(found.values) == list(class_measures(4))
    by_class = {c: precision_and_recall(predicted, actual, c) for c in range(4)}
    for label, both in by_class.items():
        assert found[f"F1(class={label})"] == pytest.approx(slow_harmonic(*both))
    used = [by_class[c] for c in sorted({*predicted, *actual})]
    precision, recall = np.mean(used, axis=0)
    assert found["macro-PR-F1"] == pytest.approx(slow_harmonic(precision, recall))
    assert found["macro-F1"] == pytest.approx(np.mean([slow_harmonic(*both) for both in used]))


def test_the_two_definitions_differ():
    found = evaluate_classification([0, 0, 0, 1], [0, 1, 1, 1])
    assert found["macro-F1"] == pytest.approx(0.5)
    # Precision (1/3 + 1) / 2, recall (1 + 1/3) / 2.
    assert found["macro-PR-F1"] == pytest.approx(2 / 3)


@given(pairs=LABELS, seed=st.integers(0, 3))
def test_renaming_the_classes_and_reordering_the_items_change_no_macro_value(pairs, seed):
    predicted, actual = (np.array(side) for side in zip(*pairs, strict=True))
    random = np.random.default_rng(seed)
    names, order = random.permutation(4), random.permutation(len(actual))
    measures = ["Accuracy", "macro-F1", "macro-PR-F1"]
    before = evaluate_classification(predicted, actual, measures)
    after = evaluate_classification(names[predicted][order], names[actual][order], measures)
    assert after.values == pytest.approx(before.values)
    assert all(0 <= value <= 1 for value in after.values.values())


def test_systems_that_name_the_classes_can_be_compared():
    labels = [0, 1, 1, 0] * 10
    never, often = np.array(labels), np.array([2, 1, 2, 0] * 10)
    measures = class_measures(3)
    good, poor = (
        evaluate_classification(np.eye(3)[predicted], labels, measures, classes=[0, 1])
        for predicted in (never, often)
    )
    compared = compare(good, poor)
    assert compared["macro-PR-F1"].p_value < 0.01 and compared["macro-PR-F1"].changes == {}
    assert compared["macro-F1"].difference == pytest.approx(1 / 3)
    low, high = poor.interval("macro-PR-F1")
    assert low < poor["macro-PR-F1"] < high


def test_names():
    assert canonical(" F1( class = 2 )") == "F1(class=2)"
    assert task_of("F1(class=2)") == task_of("macro-PR-F1") == "classification"
    assert class_measures(2) == ("Accuracy", "F1", "macro-F1", "macro-PR-F1")
    with pytest.raises(ConfigError, match=r"F1\(class=3\): there are only classes 0\.\.2"):
        evaluate_classification([0, 1, 2], [0, 1, 2], ["F1(class=3)"])
    with pytest.raises(ConfigError, match=r"'F1\(class=1\)' measures classification, not ranking"):
        from matchwork.evaluate import evaluate

        evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, ["F1(class=1)"])

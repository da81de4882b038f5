import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError, UnknownNameError
from matchwork.evaluate import evaluate_classification

PREDICTED = [1, 1, 0, 0, 1]
ACTUAL = [1, 0, 0, 1, 1]


def slow_f1(predicted, actual, positive):
    hits = sum(p == a == positive for p, a in zip(predicted, actual, strict=True))
    precision = hits / max(1, sum(p == positive for p in predicted))
    recall = hits / max(1, sum(a == positive for a in actual))
    return 2 * precision * recall / (precision + recall) if hits else 0.0


def test_by_hand():
    found = evaluate_classification(PREDICTED, ACTUAL)
    assert found.values == pytest.approx(
        {
            "Accuracy": 3 / 5,
            "F1": 2 / 3,
            "macro-F1": (2 / 3 + 1 / 2) / 2,
            "macro-PR-F1": (2 / 3 + 1 / 2) / 2,
        }
    )
    assert found.per_query == {"Accuracy": {"0": 1, "1": 0, "2": 1, "3": 0, "4": 1}}
    assert found.num_queries == 5


@given(pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_macro_f1_is_the_mean_f1_of_the_classes(pairs):
    predicted, actual = zip(*pairs, strict=True)
    expected = [slow_f1(predicted, actual, c) for c in sorted({*predicted, *actual})]
    found = evaluate_classification(predicted, actual, ["macro-F1", "Acc"])
    assert found["macro-F1"] == pytest.approx(np.mean(expected))
    assert found["Accuracy"] == pytest.approx(np.mean([p == a for p, a in pairs]))


def test_probabilities_become_classes():
    one_column = evaluate_classification([0.5, 0.9, 0.1, 0.49, 0.7], ACTUAL)
    table = [[0.4, 0.6], [0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    assert one_column.values == evaluate_classification(table, ACTUAL).values
    assert one_column.values == evaluate_classification(PREDICTED, ACTUAL).values
    strict = evaluate_classification([0.5, 0.9], [0, 1], ["Accuracy"], threshold=0.8)
    assert strict["Accuracy"] == 1


def test_items_can_be_named():
    found = evaluate_classification([1, 0], [1, 1], ["Accuracy"], ids=["a", "b"])
    assert found.per_query["Accuracy"] == {"a": 1.0, "b": 0.0}


def test_f1_has_an_interval_although_no_item_has_an_f1():
    found = evaluate_classification(PREDICTED * 40, ACTUAL * 40)
    for measure, value in found.values.items():
        low, high = found.interval(measure)
        assert low < value < high, measure


def test_bad_input_says_what_to_do():
    with pytest.raises(DataError, match="2 predictions for 1 labels"):
        evaluate_classification([1, 0], [1])
    with pytest.raises(DataError, match="nothing to measure"):
        evaluate_classification([], [])
    with pytest.raises(DataError, match="prediction number 1 is not a number"):
        evaluate_classification([0.2, float("nan")], [0, 1])
    with pytest.raises(DataError, match="1 ids for 2 labels"):
        evaluate_classification([1, 0], [1, 0], ids=["a"])
    with pytest.raises(ConfigError, match=r"classes 0\.\.2; use 'macro-F1' or 'F1\(class=1\)'"):
        evaluate_classification([0, 1], [2, 1], ["F1"])
    with pytest.raises(UnknownNameError, match="did you mean 'macro-F1'"):
        evaluate_classification([0], [0], ["macroF1"])

import numpy as np
import pytest

from matchwork.errors import ConfigError, DataError, UnknownNameError
from matchwork.evaluate import canonical, compare, evaluate, evaluate_regression, gain, task_of

LABELS = [3, 0, 5, 10]
SCORES = [0.3, 0.04, 0.44, 1.0]


def test_values_by_hand():
    found = evaluate_regression(SCORES, LABELS, label_scale=10)
    assert found["MSE"] == pytest.approx((0.04**2 + 0.06**2) / 4)
    assert found["Exact"] == 0.75  # 4.4 rounds to 4, not to 5
    assert found.per_query["Exact"] == {"0": 1, "1": 1, "2": 0, "3": 1}
    assert found.num_queries == 4


def test_without_a_scale_scores_are_labels():
    assert evaluate_regression([3.4, 0.0], [3, 0])["MSE"] == pytest.approx(0.08)


def test_a_smaller_error_wins():
    good = evaluate_regression(SCORES, LABELS, label_scale=10)
    bad = evaluate_regression(np.array(SCORES) + 0.2, LABELS, label_scale=10)
    compared = compare(good, bad)
    assert compared["MSE"].difference < 0
    assert (compared["MSE"].wins, compared["MSE"].losses) == (4, 0)
    assert (compared["Exact"].wins, compared["Exact"].losses) == (3, 0)
    assert len(compared["MSE"].biggest_wins()) == 4 and compared["MSE"].biggest_losses() == []
    best, change = compared["MSE"].biggest_wins(1)[0]
    assert change == min(compared["MSE"].changes.values()) and best in compared["MSE"].changes
    turned = compare(bad, good)["MSE"]
    assert (turned.wins, turned.losses) == (0, 4)
    assert turned.biggest_losses(1)[0][1] == max(turned.changes.values())


def test_what_measures_what():
    assert [task_of(name) for name in ("MSE", "Exact", "Acc", "MAP")] == [
        "regression",
        "regression",
        "classification",
        "ranking",
    ]
    assert canonical(" MSE ") == "MSE"
    assert gain("MSE", -0.1) == 0.1 and gain("MRR", -0.1) == -0.1


def test_measures_of_regression_do_not_rank():
    with pytest.raises(ConfigError, match="'MSE' measures regression, not ranking; try 'AP'"):
        evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, ["MSE"])
    with pytest.raises(UnknownNameError, match="no measure named 'Exakt'; did you mean 'Exact'"):
        evaluate_regression(SCORES, LABELS, ["Exakt"])


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([0.1], [1, 2], "1 scores for 2 labels; give one each"),
        ([], [], "nothing to measure"),
        ([0.1, float("nan")], [1, 2], "score number 1 is not a finite number"),
        ([float("inf")], [1], "score number 0 is not a finite number"),
    ],
)
def test_bad_input(scores, labels, message):
    with pytest.raises(DataError, match=message):
        evaluate_regression(scores, labels)

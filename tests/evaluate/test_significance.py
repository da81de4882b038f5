import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import (
    bootstrap_interval,
    compare,
    compare_all,
    evaluate,
    evaluate_classification,
    holm,
    permutation_test,
)
from matchwork.evaluate.sample import Sample


def evaluation(ranks):
    """Query i has its only relevant document at `ranks[i]`."""
    run = {
        f"q{number}": {f"d{place}": -float(place) for place in range(1, 6)}
        for number in range(len(ranks))
    }
    qrels = {f"q{number}": {f"d{rank}": 1} for number, rank in enumerate(ranks)}
    return evaluate(run, qrels, ["RR", "P@1"])


def test_the_exact_test_agrees_with_scipy():
    rng = np.random.default_rng(0)
    ours, theirs = rng.random(9).round(2), rng.random(9).round(2)
    expected = stats.permutation_test(
        (ours, theirs), lambda a, b: np.mean(a) - np.mean(b), permutation_type="samples"
    )
    assert permutation_test(Sample.of(ours), Sample.of(theirs)) == pytest.approx(expected.pvalue)


def test_the_random_test_comes_near_the_exact_one():
    rng = np.random.default_rng(1)
    ours, theirs = Sample.of(rng.random(12)), Sample.of(rng.random(12))
    exact = permutation_test(ours, theirs)
    assert permutation_test(ours, theirs, num_samples=4_000) == pytest.approx(exact, abs=0.04)
    assert permutation_test(ours, theirs, num_samples=4_000) == permutation_test(
        ours, theirs, num_samples=4_000
    )


def test_p_values_are_fair_when_there_is_no_difference():
    rng = np.random.default_rng(2)
    p_values = [
        permutation_test(Sample.of(rng.random(40)), Sample.of(rng.random(40)), num_samples=200)
        for _ in range(300)
    ]
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.09


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_equal_systems_are_not_different(values):
    assert permutation_test(Sample.of(values), Sample.of(values)) == 1.0


def test_a_test_is_two_sided():
    better, worse = Sample.of(np.linspace(0.5, 1, 8)), Sample.of(np.linspace(0, 0.4, 8))
    assert permutation_test(better, worse) == permutation_test(worse, better) == 2 / 2**8


def test_the_interval_agrees_with_scipy():
    values = np.random.default_rng(4).random(150)
    expected = stats.bootstrap((values,), np.mean, method="percentile", rng=5).confidence_interval
    assert bootstrap_interval(Sample.of(values), num_samples=10_000) == pytest.approx(
        (expected.low, expected.high), abs=0.005
    )
    with pytest.raises(ConfigError, match="confidence must lie between 0 and 1, got 95"):
        bootstrap_interval(Sample.of(values), confidence=95)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_under_bonferroni(p_values):
    adjusted = holm(p_values)
    for p_value, corrected in zip(p_values, adjusted, strict=True):
        assert p_value <= corrected <= min(1.0, len(p_values) * p_value)
    assert [adjusted[place] for place in np.argsort(p_values, kind="stable")] == sorted(adjusted)


def test_wins_and_losses():
    compared = compare(evaluation([1, 1, 3, 2, 4]), evaluation([5, 2, 1, 2, 2]))["RR"]
    assert (compared.wins, compared.losses, compared.ties) == (2, 2, 1)
    assert compared.biggest_wins(1) == [("q0", pytest.approx(0.8))]
    assert compared.biggest_losses() == [
        ("q2", pytest.approx(1 / 3 - 1)),
        ("q4", pytest.approx(1 / 4 - 1 / 2)),
    ]
    assert compared.difference == pytest.approx(compared.value - compared.baseline)
    assert compared.difference == pytest.approx(np.mean(list(compared.changes.values())))


def test_correction_is_over_all_comparisons_made_together():
    baseline = evaluation([5] * 10)
    systems = {"good": evaluation([1] * 10), "same": evaluation([5] * 10)}
    together = compare_all(systems, baseline, ["MRR", "P@1"])
    alone = compare(systems["good"], baseline, ["RR"])
    assert list(together["good"]) == ["RR", "P@1"]
    assert alone["RR"].adjusted_p == alone["RR"].p_value == 2 / 2**10
    assert together["good"]["RR"].adjusted_p == pytest.approx(4 * 2 / 2**10)
    assert together["same"]["RR"].p_value == 1.0


def test_classifiers_are_compared_on_f1_too():
    labels = [0, 1] * 20
    good = evaluate_classification(labels, labels)
    poor = evaluate_classification([1] * 40, labels)
    compared = compare(good, poor)
    assert compared["macro-F1"].p_value < 0.001
    assert compared["macro-F1"].changes == {}
    assert compared["Accuracy"].wins == 20


def test_a_paired_test_needs_the_same_queries():
    with pytest.raises(DataError, match=r"2 queries \(raw\), the baseline on 3.*for one, 'q2'"):
        compare(evaluation([1, 2]), evaluation([1, 2, 3]))

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import DataError
from matchwork.rank import Calibration
from matchwork.rank.calibration import (
    IsotonicCalibration,
    calibration_from_table,
    calibration_to_table,
    fit_calibration,
)

labelled = st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@given(labelled)
def test_probabilities_are_monotone_and_between_zero_and_one(
    rows: list[tuple[float, bool]],
) -> None:
    scores, labels = zip(*rows, strict=True)
    calibration = Calibration.fit(scores, labels)
    assert calibration.slope >= 0 and np.isfinite([calibration.slope, calibration.intercept]).all()
    probabilities = calibration.probability(np.sort(scores))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities) >= 0).all()


def test_recovers_the_curve_that_made_the_labels() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(5, 3, size=20_000)
    truth = 1 / (1 + np.exp(-(0.8 * scores - 4.5)))
    calibration = Calibration.fit(scores, random.random(len(scores)) < truth)
    assert calibration.slope == pytest.approx(0.8, abs=0.05)
    assert calibration.intercept == pytest.approx(-4.5, abs=0.3)
    np.testing.assert_allclose(calibration.probability(scores), truth, atol=0.03)


def test_mean_probability_is_the_share_of_positives() -> None:
    random = np.random.default_rng(1)
    scores, labels = random.normal(size=4000), random.random(4000) < 0.1
    assert Calibration.fit(scores, labels).probability(scores).mean() == pytest.approx(
        labels.mean(), abs=0.005
    )


def test_separable_scores_stay_finite() -> None:
    calibration = Calibration.fit([1, 2, 3, 4], [0, 0, 1, 1])
    probabilities = calibration.probability([1, 2, 3, 4])
    assert probabilities[1] < 0.5 < probabilities[2] and probabilities[0] > 0


def test_scores_on_any_scale() -> None:
    scores, labels = np.array([1.0, 2.0, 2.5, 3.0, 4.0, 5.0]), [0, 0, 1, 0, 1, 1]
    plain = Calibration.fit(scores, labels).probability(scores)
    for factor, shift in ((1e6, 0.0), (1e-6, 3.0), (1.0, -1e4)):
        moved = scores * factor + shift
        found = Calibration.fit(moved, labels).probability(moved)
        np.testing.assert_allclose(found, plain, atol=1e-3)


def test_scores_that_say_the_wrong_thing_give_a_nearly_flat_line() -> None:
    probabilities = Calibration.fit([1, 2, 3, 4], [1, 1, 0, 0]).probability([1, 2, 3, 4])
    np.testing.assert_allclose(probabilities, 0.5, atol=0.002)


@pytest.mark.parametrize(("labels", "counts"), [([1, 1], "2 and 0"), ([0, 0], "0 and 2")])
def test_both_kinds_of_pairs_are_needed(labels: list[int], counts: str) -> None:
    with pytest.raises(DataError, match=f"needs positive and negative pairs, got {counts}"):
        Calibration.fit([0.1, 0.2], labels)


@given(labelled)
def test_isotonic_probabilities_rise_and_survive_a_file(rows: list[tuple[float, bool]]) -> None:
    scores, labels = zip(*rows, strict=True)
    calibration = IsotonicCalibration.fit(scores, labels)
    probabilities = calibration.probability(np.sort([*scores, -1e9, 1e9]))
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert (np.diff(probabilities) >= 0).all()
    table = json.loads(json.dumps(calibration_to_table(calibration)))
    assert calibration_from_table(table, "calibration.json") == calibration


def test_isotonic_points_by_hand() -> None:
    # The two in the middle are in the wrong order and become one point at their mean.
    found = IsotonicCalibration.fit([1.0, 2.0, 4.0, 5.0], [0, 1, 0, 1])
    assert found.scores == (1.0, 3.0, 5.0)
    assert found.probabilities == pytest.approx((0.25, 0.5, 0.75))
    np.testing.assert_allclose(found.probability([0.0, 2.0, 4.5, 9.0]), [0.25, 0.375, 0.6875, 0.75])


def test_the_logistic_curve_is_kept_where_it_fits() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=3000)
    labels = random.random(3000) < 1 / (1 + np.exp(-2 * scores))
    assert fit_calibration(scores, labels) == Calibration.fit(scores, labels)


def test_another_shape_is_chosen_where_it_is_clearly_better() -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(-3, 3, size=4000)
    truth = np.where(scores < 0, 0.05, np.where(scores < 2, 0.3, 0.95))
    labels = random.random(4000) < truth
    found = fit_calibration(scores, labels)
    assert isinstance(found, IsotonicCalibration)
    curve = Calibration.fit(scores, labels)
    errors = [np.abs(each.probability(scores) - truth).mean() for each in (found, curve)]
    assert errors[0] < errors[1] / 2


def test_few_pairs_get_the_logistic_curve() -> None:
    scores, labels = [1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1]
    assert fit_calibration(scores, labels) == Calibration.fit(scores, labels)
    with pytest.raises(DataError, match="got 0 and 2"):
        fit_calibration([1.0, 2.0], [0, 0])


def test_old_files_are_logistic_curves_and_damage_is_named() -> None:
    table = {"slope": 2.0, "intercept": -1.0}
    assert calibration_from_table(table, "x") == Calibration(2.0, -1.0)
    assert calibration_to_table(Calibration(2.0, -1.0)) == table
    isotonic = {"kind": "isotonic", "scores": [0.0, 1.0], "probabilities": [0.1, 0.9]}
    for change, message in (
        ({"kind": "beta"}, "x: unknown kind 'beta'; this version knows logistic, isotonic"),
        ({"scores": [0.0]}, "as many scores as probabilities, got 1 and 2"),
        ({"scores": [1.0, 0.0]}, "of a curve must rise"),
        ({"probabilities": [0.1, 1.5]}, "probabilities lie between 0 and 1"),
    ):
        with pytest.raises(DataError, match=message):
            calibration_from_table(isotonic | change, "x")

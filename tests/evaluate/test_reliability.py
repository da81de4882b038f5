"""Whether probabilities keep their promises."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError
from matchwork.evaluate import Reliability, reliability

pairs = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_two_bins_by_hand():
    found = reliability([0.1, 0.3, 0.6, 1.0], [0, 1, 1, 1], num_bins=2)
    assert [tuple(each) for each in found.bins] == [
        (2, pytest.approx(0.2), 0.5),
        (2, pytest.approx(0.8), 1.0),
    ]
    assert found.calibration_error == pytest.approx((0.3 + 0.2) / 2)
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.16 + 0.0) / 4)


def test_true_probabilities_have_no_error_and_bold_ones_have():
    random = np.random.default_rng(0)
    chances = random.random(50_000)
    happened = random.random(50_000) < chances
    honest = reliability(chances, happened)
    bold = reliability(np.where(chances > 0.5, 0.99, 0.01), happened)
    assert honest.calibration_error < 0.01 and honest.brier == pytest.approx(1 / 6, abs=0.01)
    assert bold.calibration_error == pytest.approx(0.24, abs=0.01) and bold.brier > honest.brier


def test_bins_are_of_equal_size_and_equal_probabilities_stay_together():
    sizes = [each.pairs for each in reliability(np.linspace(0, 1, 100), np.ones(100)).bins]
    assert sizes == [10] * 10
    flat = reliability([0.2] * 75 + [0.9] * 25, [0] * 100)
    assert [each.pairs for each in flat.bins] == [75, 25]


@given(pairs, st.integers(1, 12))
def test_errors_lie_between_zero_and_one_and_every_pair_counts(rows, num_bins):
    chances, happened = zip(*rows, strict=True)
    found = reliability(chances, happened, num_bins)
    assert found.num_pairs == len(rows) and 1 <= len(found.bins) <= num_bins
    assert 0 <= found.calibration_error <= 1 + 1e-12 and 0 <= found.brier <= 1
    assert Reliability.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_what_is_no_probability_is_named():
    with pytest.raises(DataError, match=r"probability number 1 is 1\.2, not within"):
        reliability([0.5, 1.2], [0, 1])
    with pytest.raises(DataError, match="probability number 0 is nan"):
        reliability([float("nan")], [1])
    with pytest.raises(DataError, match="2 probabilities for 1 labels; give one each"):
        reliability([0.5, 0.2], [1])
    with pytest.raises(DataError, match="0 probabilities"):
        reliability([], [])
    with pytest.raises(ConfigError, match="num_bins must be at least 1, got 0"):
        reliability([0.5], [1], num_bins=0)

"""Class probabilities of matchers, and what scores alone say about classes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from matchwork.data import Split
from matchwork.data.classes import check_classes
from matchwork.errors import DataError
from matchwork.evaluate import class_measures
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.matcher import Matcher
from matchwork.rank import Calibration
from matchwork.rank.calibration import ClassCalibration

HCAN = {"num_layers": 1, "filters": 4, "hidden": 6, "query_length": 8}


def test_probabilities_are_the_softmax_of_the_logits_in_the_order_given(tiny_matcher, pairs):
    matcher = tiny_matcher("hcan", num_classes=3, **HCAN)
    matcher.max_pairs = 2  # several batches, sorted by length
    table = matcher.classify(iter(pairs))
    assert matcher.num_classes == 3 and table.shape == (len(pairs), 3)
    for pair, row in zip(pairs, table, strict=True):
        logits = matcher.output(*pair).logits[0].double()
        np.testing.assert_allclose(row, logits.softmax(0).numpy(), atol=1e-6)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(table[:, 1] / (1 - table[:, 1])), matcher.score(pairs), 1e-4)
    assert matcher.classify([]).shape == (0, 3)


def test_windows_change_nothing(tiny_matcher, pairs):
    matcher = tiny_matcher("hcan", num_classes=4, **HCAN)
    seen: list[int] = []
    parts = list(matcher.classify_stream(iter(pairs), window=2, advance=seen.append))
    scores, tables = zip(*parts, strict=True)
    np.testing.assert_allclose(np.concatenate(tables), matcher.classify(pairs), atol=1e-7)
    np.testing.assert_allclose(np.concatenate(scores), matcher.score(pairs), atol=1e-5)
    assert sum(seen) == len(pairs)


@pytest.mark.parametrize("name", ["bag", "hcan"])
def test_of_two_classes_they_are_the_calibrated_probability(tiny_matcher, pairs, name):
    matcher = tiny_matcher(name)
    for matcher.calibration in (None, Calibration(2.0, -0.5)):
        match = matcher.probability(pairs)
        np.testing.assert_array_equal(matcher.classify(pairs), np.stack([1 - match, match], 1))


def test_classes_survive_saving(tiny_matcher, pairs, tmp_path):
    matcher = tiny_matcher("hcan", num_classes=3, **HCAN)
    matcher.save(tmp_path / "nli")
    loaded = Matcher.load(tmp_path / "nli")
    assert loaded.num_classes == 3
    np.testing.assert_array_equal(loaded.classify(pairs), matcher.classify(pairs))


@given(seed=st.integers(0, 20), num_classes=st.integers(2, 5))
def test_a_score_suggests_classes(seed, num_classes):
    random = np.random.default_rng(seed)
    labels = random.integers(0, num_classes, size=200)
    scores = 100 + 7.0 * labels + random.normal(scale=0.01, size=200)
    fitted = ClassCalibration.fit(scores, labels, num_classes)
    table = fitted.probability(scores)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert (table.argmax(axis=1) == labels).mean() > 0.9


def test_a_constant_score_suggests_how_frequent_classes_are():
    table = ClassCalibration.fit(np.ones(100), [0] * 60 + [1] * 30 + [3] * 10, 4).probability([1.0])
    np.testing.assert_allclose(table[0], [0.6, 0.3, 0, 0.1], atol=0.02)
    with pytest.raises(DataError, match="calibration needs labelled pairs, got none"):
        ClassCalibration.fit([], [], 3)


def split(labels: list[int]) -> Split:
    documents = {f"d{i}": f"text {i}" for i in range(len(labels))}
    qrels = {"q": dict(zip(documents, labels, strict=True))}
    return Split("test", {"q": "who wrote hamlet"}, documents, qrels, {"q": tuple(documents)})


def test_matcher_and_bm25_are_measured_on_the_same_pairs(tiny_matcher):
    torch.manual_seed(0)
    matcher = tiny_matcher("hcan", num_classes=3, **HCAN)
    measured = MeasuredSplit(
        split([0, 1, 0, 1, 1]), "raw", class_measures(3), "classification", num_classes=3
    )
    ours = measured.evaluate_scorer(matcher, measured.run(matcher))
    theirs = measured.evaluate(measured.bm25_run())
    assert ours.queries == theirs.queries
    for name in ours.samples:  # no one is labelled 2, whatever is predicted
        assert ours.samples[name].gain.shape == theirs.samples[name].gain.shape
    assert measured.evaluate_scorer(matcher).values == ours.values
    chosen = matcher.classify([("who wrote hamlet", f"text {i}") for i in range(5)]).argmax(axis=1)
    assert ours["Accuracy"] == pytest.approx(np.mean(chosen == [0, 1, 0, 1, 1]))


def test_grades_are_no_classes():
    check_classes(split([0, 1, 2]), "ranking", 2, "bag")
    check_classes(split([0, 1, 2]), "classification", 4, "hcan")
    with pytest.raises(
        DataError, match=r"query 'q' \('who wrote hamlet'\), document 'd1': label 5"
    ):
        check_classes(split([0, 5, 2]), "classification", 3, "hcan")

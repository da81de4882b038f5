"""Learning more than two classes: the loss against NumPy, and what it is learnt from."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import matchwork as mw
from matchwork.data import Dataset, Split
from matchwork.errors import ConfigError, DataError
from matchwork.train import TrainConfig
from matchwork.train.losses import class_cross_entropy, cross_entropy

HCAN = {"num_classes": 3, "num_layers": 1, "filters": 4, "hidden": 6, "query_length": 8}


@given(seed=st.integers(0, 50), num_classes=st.integers(2, 5))
def test_the_loss_is_the_negative_log_likelihood_of_the_labels(seed, num_classes):
    random = np.random.default_rng(seed)
    logits = random.normal(scale=3, size=(4, 3, num_classes))
    labels = random.integers(0, num_classes, size=(4, 3))
    mask = random.random((4, 3)) < 0.7
    terms = [
        -np.log(np.exp(logits[i, j, labels[i, j]]) / np.exp(logits[i, j]).sum())
        for i, j in np.argwhere(mask)
    ]
    tensor = torch.from_numpy(logits).requires_grad_()
    loss = class_cross_entropy(tensor, torch.from_numpy(labels).float(), torch.from_numpy(mask))
    assert loss.item() == pytest.approx(sum(terms) / max(1, len(terms)))
    loss.backward()
    likely = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    gradient = (likely - np.eye(num_classes)[labels]) * mask[..., None] / max(1, mask.sum())
    np.testing.assert_allclose(tensor.grad.numpy(), gradient, atol=1e-12)


def test_of_two_classes_it_is_the_binary_loss_of_the_log_odds():
    logits = torch.randn(5, 1, 2, generator=torch.Generator().manual_seed(1)).double()
    labels, mask = torch.tensor([[0.0], [1], [1], [0], [1]]), torch.ones(5, 1, dtype=torch.bool)
    odds = logits[..., 1] - logits[..., 0]
    expected = cross_entropy(odds, labels, mask)
    assert class_cross_entropy(logits, labels, mask).item() == pytest.approx(expected.item())


def test_masked_places_may_hold_any_label():
    logits, labels = torch.zeros(1, 2, 3), torch.tensor([[2.0, 9.0]])
    loss = class_cross_entropy(logits, labels, torch.tensor([[True, False]]))
    assert loss.item() == pytest.approx(np.log(3))


def test_grades_of_a_ranking_still_count_as_positive():
    scores, mask = torch.tensor([[0.3], [0.3]]), torch.ones(2, 1, dtype=torch.bool)
    graded = cross_entropy(scores, torch.tensor([[1.0], [2.0]]), mask)
    assert graded == cross_entropy(scores, torch.ones(2, 1), mask)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "squared"}, 'loss = "squared" knows only relevant and not relevant'),
        ({"negatives": "random"}, 'with num_classes = 3 use negatives = "labelled"'),
    ],
)
def test_only_labels_as_they_stand_teach_classes(settings, message):
    config = TrainConfig(**settings)
    config.check_model(2, bi_encoded=True)
    with pytest.raises(ConfigError, match=message):
        config.check_model(3, bi_encoded=True)


def graded(split: Split, top: int) -> Split:
    """The same pairs with labels 0 to `top` in turn."""
    qrels: dict[str, dict[str, int]] = {}
    for number, pair in enumerate(split.pairs()):
        qrels.setdefault(pair.query_id, {})[pair.document_id] = number % (top + 1)
    return replace(split, qrels=qrels)


def classes(data: Dataset, top: int) -> Dataset:
    splits = {name: graded(data[name], top) for name in ("train", "dev")}
    return replace(data, task="classification", splits=splits)


def test_python_training_measures_the_classes(questions, matcher):
    made = matcher("hcan", **HCAN)
    settings = {"dev_measure": "Acc", "max_epochs": 2, "accelerator": "cpu"}
    result = mw.train(made, classes(questions, 2), **settings)
    assert {"Accuracy"} < result.history[0].keys()
    table = made.classify([("who wrote hamlet", "shakespeare"), ("where", "in paris")])
    assert table.shape == (2, 3)


def test_labels_that_the_model_does_not_know(questions, matcher):
    made = matcher("hcan", **HCAN)
    with pytest.raises(DataError, match=r"label 3 is outside 0\.\.2; .*num_classes = 4"):
        mw.train(made, classes(questions, 3), dev_measure="Accuracy")
    with pytest.raises(ConfigError, match=r"'bag' tells two .* labels 0\.\.2; use 'hcan' with"):
        mw.train(matcher("bag"), classes(questions, 2), dev_measure="Accuracy")
    with pytest.raises(ConfigError, match="num_classes = 3 is for classification"):
        mw.train(made, questions)

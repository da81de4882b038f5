"""The loss on dev: of the same batches each time, and without a trace in training."""

import csv

import numpy as np
import pytest
import torch
from fit_model import fit
from fragile_model import fragile, not_a_number

from matchwork.errors import ConfigError, TrainingError
from matchwork.train import TrainingSet, train, validation
from matchwork.train.validation import DevLoss


@pytest.fixture(scope="session")
def dev_samples(questions, words):
    return TrainingSet.from_split(questions["dev"], words)


def test_it_is_the_mean_loss_of_the_labelled_pairs(
    matcher, samples, questions, dev_samples, config
):
    """Cross entropy by hand, of the weights after the one step."""
    made = matcher("knrm")
    settings = config(
        loss="cross-entropy",
        negatives="labelled",
        batch_size=len(samples.labels),
        max_epochs=1,
        dev_loss_every=1,
    )
    ((step, loss),) = fit(made.model, samples, settings, dev_samples=dev_samples).dev_loss
    pairs = list(questions["dev"].pairs())
    scores = made.score([(pair.query, pair.document) for pair in pairs])
    signs = np.array([1 if pair.label > 0 else -1 for pair in pairs])
    assert step == 1 and loss == pytest.approx(np.log1p(np.exp(-signs * scores)).mean(), rel=1e-5)


def test_batches_are_averaged_by_their_groups(words, dev_samples, config):
    settings = config(loss="cross-entropy", negatives="labelled", batch_size=5)
    measured, seen = DevLoss(dev_samples, settings), []

    def batch_loss(batch):
        seen.append(len(batch.labels))
        return torch.tensor(float(len(seen)))

    value = measured(fragile(words), batch_loss)
    assert sum(seen) == len(dev_samples.labels) and min(seen) < 5
    assert value == pytest.approx(np.average(range(1, len(seen) + 1), weights=seen))


def test_a_large_dev_is_sampled(dev_samples, config, monkeypatch):
    monkeypatch.setattr(validation, "DEV_LOSS_PAIRS", 10)
    settings = config(loss="cross-entropy", negatives="labelled", batch_size=4)
    one, two = DevLoss(dev_samples, settings), DevLoss(dev_samples, settings)
    assert len(one.batches) == 3
    for ours, theirs in zip(one.batches, two.batches, strict=True):
        assert torch.equal(ours.pairs.document.ids, theirs.pairs.document.ids)


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "cross-entropy", "negatives": "labelled"},
        {"loss": "hinge", "negatives": "own"},
        {"loss": "softmax", "negatives": "in-batch"},
        {"loss": "softmax", "negatives": "hard", "hard_depth": 5},
        {"loss": "hinge", "negatives": "replace", "precision": "bf16-mixed"},
        {"loss": "squared", "negatives": "random", "precision": "64"},
    ],
    ids=str,
)
def test_looking_changes_nothing(words, samples, dev_samples, config, tmp_path, settings):
    blind, watched = fragile(words), fragile(words)
    expected = fit(blind, samples, config(**settings))
    result = fit(
        watched,
        samples,
        config(**settings, dev_loss_every=2),
        dev_samples=dev_samples,
        folder=tmp_path,
    )
    for name, tensor in blind.state_dict().items():
        assert torch.equal(tensor, watched.state_dict()[name]), name
    assert [r["loss"] for r in result.history] == [r["loss"] for r in expected.history]
    assert expected.dev_loss == [] and result.dev_loss
    assert all(step % 2 == 0 and loss > 0 for step, loss in result.dev_loss)
    (log,) = tmp_path.glob("logs/*/metrics.csv")
    with log.open() as stream:
        logged = [row["dev_loss"] for row in csv.DictReader(stream) if row["dev_loss"]]
    assert [float(value) for value in logged] == [loss for _, loss in result.dev_loss]


def test_learning_lowers_it_on_what_is_learnt(words, samples, config):
    settings = config(max_epochs=10, dev_loss_every=30, learning_rate=0.05)
    result = fit(fragile(words), samples, settings, dev_samples=samples)
    ((_, last),) = result.dev_loss
    first = fit(
        fragile(words), samples, config(max_epochs=1, dev_loss_every=1), dev_samples=samples
    ).dev_loss[0]
    assert first[0] == 1 and last < first[1]


def test_train_takes_it_from_the_data(matcher, questions):
    result = train(matcher(), questions, dev_loss_every=1, max_epochs=1, accelerator="cpu")
    assert len(result.dev_loss) >= 1


def test_it_needs_a_dev(words, samples, config):
    with pytest.raises(ConfigError, match="dev_loss_every = 5 needs a dev split"):
        fit(fragile(words), samples, config(dev_loss_every=5))
    with pytest.raises(ConfigError, match="dev_loss_every must not be negative, got -1"):
        config(dev_loss_every=-1)


def test_a_loss_that_is_no_number_stops_training(words, samples, config):
    """Breaks outside training steps: those count calls, and have not begun."""
    model = fragile(words)
    model.register_forward_hook(
        lambda module, inputs, output: (
            None if module.training else type(output)(not_a_number(output.scores))
        )
    )
    with pytest.raises(TrainingError, match=r"the loss on dev is nan at step 1 \(epoch 1\)"):
        fit(model, samples, config(dev_loss_every=1), dev_samples=samples)

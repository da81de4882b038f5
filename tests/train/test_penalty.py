"""What a model adds to the loss over its scores: the mean of its penalties."""

from pathlib import Path

import pytest
import torch

import matchwork as mw
from matchwork.models import MatchOutput
from matchwork.train import TrainConfig, TrainingSet
from matchwork.train.loader import EpochLoader
from matchwork.train.module import TrainingModule
from matchwork.train.run import TrainingRun

ADDAX = {"hash_dim": 6, "dropout": 0.0, "delta": 0.1, "gamma": 0.2}


def module(made, samples: TrainingSet, config: TrainConfig, **model):
    addax = made("addax", **{**ADDAX, **model}).model
    return TrainingModule(TrainingRun(addax, samples, config, Path()))


def first_batch(samples: TrainingSet, config: TrainConfig):
    loader = EpochLoader(samples, config.make_sampler(samples), config.batch_size, seed=0)
    return next(iter(loader))


@pytest.mark.parametrize("aux", ["both", "positive"])
@pytest.mark.parametrize("training", [True, False])
def test_the_loss_has_three_parts(matcher, samples, config, aux, training) -> None:
    settings = config(loss="hinge", num_negatives=1)
    batch = first_batch(samples, settings)
    made = module(matcher, samples, settings, aux=aux).train(training)
    output = made.model(batch.pairs)
    scores, penalty = output.scores.view(-1, 2), output.penalty.view(-1, 2)
    assert batch.mask.all() and (batch.labels[:, 0] > 0).all() and (batch.labels[:, 1] == 0).all()
    expected = 0.0
    for i in range(len(scores)):
        errors = penalty[i, 0] if aux == "positive" else (penalty[i, 0] + penalty[i, 1]) / 2
        expected += max(0.0, 1 - scores[i, 0] + scores[i, 1]) + errors
    assert made.batch_loss(batch).item() == pytest.approx(expected.item() / len(scores), rel=1e-5)


def test_without_weights_of_the_errors_it_is_the_hinge_loss(matcher, samples, config) -> None:
    settings = config(loss="hinge")
    batch = first_batch(samples, settings)
    made = module(matcher, samples, settings, delta=0.0, gamma=0.0).train()
    scores = made.model(batch.pairs).scores.view_as(batch.labels)
    expected = settings.make_loss()(scores, batch.labels, batch.mask)
    assert made.batch_loss(batch).item() == expected.item() > 0


def test_in_batch_negatives_are_penalised_too(matcher, samples, config) -> None:
    settings = config(loss="softmax", negatives="in-batch")
    batch = first_batch(samples, settings)
    made = module(matcher, samples, settings).train()
    model = made.model
    query, document = model.encode(batch.pairs.query), model.encode(batch.pairs.document)
    scores = model.match_all(query, document)
    loss = settings.make_loss()(scores, batch.labels, batch.mask)
    pairs = [
        model.match(_row(query, i), _row(document, j)).penalty
        for i, j in batch.mask.nonzero().tolist()
    ]
    expected = loss + torch.cat(pairs).mean()
    assert made.batch_loss(batch).item() == pytest.approx(expected.item(), rel=1e-5)


def _row(side, number):
    return type(side)(side.vectors[[number]], side.mask[[number]])


def test_pairs_that_are_not_there_do_not_count(matcher, samples, config, monkeypatch) -> None:
    settings = config(loss="hinge", num_negatives=1)
    batch = first_batch(samples, settings)
    batch.mask[0, 1] = False
    made = module(matcher, samples, settings).train()
    penalty = torch.ones(batch.labels.shape)
    penalty[0, 1] = 1e9
    scores = torch.where(batch.labels > 0, 2.0, 0.0)  # no hinge
    output = MatchOutput(scores.flatten(), penalty=penalty.flatten())
    monkeypatch.setattr(made, "_score", lambda pairs: output)
    assert made.batch_loss(batch).item() == 1.0


def test_training_learns_and_measures(matcher, questions, config) -> None:
    made = matcher("addax", hash_dim=16, dim=16)
    result = mw.train(
        made, questions, max_epochs=2, learning_rate=0.01, accelerator="cpu", dev_loss_every=2
    )
    assert result.history[-1]["loss"] < result.history[0]["loss"]

"""A loss, a negative sampler, an optimizer and a schedule from a module outside the package."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from matchwork.errors import ConfigError, UnknownNameError
from matchwork.plugins import import_plugins
from matchwork.train import LOSSES, OPTIMIZERS, SAMPLERS, SCHEDULES, TrainConfig, train

MODULE = '''
import torch
from matchwork.train import OPTIMIZERS, SAMPLERS, SCHEDULES, Sampler, register_loss
from matchwork.train.samplers import RandomDocuments


@register_loss("margin-squared", needs_negatives=True)
def margin_squared(scores, labels, mask, *, margin, unknown=2.0):
    """Squared hinge over positives and negatives of a group."""
    terms = torch.relu(margin + scores[:, 1:] - scores[:, :1]) ** 2
    return terms.masked_fill(~mask[:, 1:], 0.0).mean() * unknown


@SAMPLERS.register("first")
class First(RandomDocuments):
    """Always the first documents."""

    def negatives(self, rng):
        documents = self.random_documents(rng)
        return self.query_rows[:, None], documents * 0 + rng.integers(3, size=documents.shape)


@SAMPLERS.register("batch-mates")
class BatchMates(SAMPLERS["in-batch"]):
    """In-batch negatives under another name."""


@OPTIMIZERS.register("sign")
class Sign(torch.optim.Optimizer):
    """Step by the sign of the gradient."""

    def __init__(self, parameters, *, lr, weight_decay):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad.sign()
        return loss


@SCHEDULES.register("cooling")
def cooling(*, epoch, halve_every):
    """Divide by the number of the epoch."""
    return halve_every / (halve_every + epoch)
'''


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for registry in (LOSSES, SAMPLERS, OPTIMIZERS, SCHEDULES):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    (tmp_path / "my_training.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import_plugins(["my_training"])
    yield
    del sys.modules["my_training"]


def test_a_matcher_is_trained_with_all_of_them(matcher, questions):
    made = matcher("knrm")
    before = made.model.score.weight.detach().clone()
    settings = {"loss": "margin-squared", "negatives": "first", "num_negatives": 2}
    result = train(
        made,
        questions,
        **settings,
        optimizer="sign",
        schedule="cooling",
        halve_every=3,
        batch_size=100,
        max_epochs=2,
        learning_rate=0.01,
        accelerator="cpu",
    )
    assert result.history[1]["loss"] < result.history[0]["loss"]
    assert not torch.equal(made.model.score.weight, before)


def test_their_attributes_decide_what_they_are_checked_against(words, samples):
    with pytest.raises(ConfigError, match="loss 'margin-squared' compares a positive"):
        TrainConfig(loss="margin-squared", negatives="labelled")
    config = TrainConfig(loss="softmax", negatives="batch-mates")
    assert config.in_batch
    with pytest.raises(ConfigError, match='negatives = "batch-mates" needs texts that are encod'):
        config.check_model(2, bi_encoded=False)
    with pytest.raises(ConfigError, match='halve_every = 3 needs schedule = "cooling" or "steps"'):
        TrainConfig(halve_every=3)
    with pytest.raises(UnknownNameError, match="no optimizer named 'sine'; did you mean 'sign'"):
        TrainConfig(optimizer="sine")
    with pytest.raises(UnknownNameError, match="no schedule named 'cool'; did you mean 'cooling'"):
        TrainConfig(schedule="cool", halve_every=3)


def test_options_are_the_training_settings_among_keyword_only_parameters():
    config = TrainConfig(loss="margin-squared", negatives="own", margin=3.0)
    assert config.options(LOSSES[config.loss].function) == {"margin": 3.0}
    assert config.options(SAMPLERS["hard"]) == {"num_negatives": 4, "hard_depth": 50}

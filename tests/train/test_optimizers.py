"""Learning rates: of every parameter, at every step, wherever a run is cut."""

import pytest
import torch
from epoch_records import EpochRecords
from fit_model import fit
from fragile_model import PowerCut, fragile
from hypothesis import assume, given
from hypothesis import strategies as st

from matchwork.errors import ConfigError
from matchwork.train import TrainConfig
from matchwork.train.module import can_fuse, make_optimizer
from matchwork.train.optimizers import linear


class Rates:
    """Notes the learning rate of every step that a model takes."""

    def __init__(self, monkeypatch):
        self.seen = []
        plain = torch.optim.SGD.step

        def step(optimizer, closure=None):
            result = plain(optimizer, closure)
            self.seen.append(optimizer.param_groups[0]["lr"])
            return result

        monkeypatch.setattr(torch.optim.SGD, "step", step)


def test_the_rate_of_a_schedule_step_by_step(words, samples, config, monkeypatch):
    """Two epochs of three batches: a third of them to warm up."""
    rates = Rates(monkeypatch)
    settings = config(optimizer="sgd", schedule="linear", warmup=1 / 3, learning_rate=0.12)
    fit(fragile(words), samples, settings)
    assert rates.seen == pytest.approx([0.04, 0.08, 0.12, 0.09, 0.06, 0.03])


def test_steps_come_with_epochs_alone(words, samples, config, monkeypatch):
    rates = Rates(monkeypatch)
    steps = {"schedule": "steps", "halve_every": 2}
    settings = config(optimizer="sgd", learning_rate=0.4, batch_size=12, max_epochs=5, **steps)
    fit(fragile(words), samples, settings)
    assert rates.seen == [0.4, 0.4, 0.2, 0.2, 0.1]


@given(st.integers(1, 300), st.floats(0, 0.99))
def test_a_linear_rate_rises_then_falls_and_is_never_nothing(num_steps, warmup):
    num_warmup = round(warmup * num_steps)
    assume(num_warmup < num_steps)
    shares = [linear(step=step, num_steps=num_steps, warmup=warmup) for step in range(num_steps)]
    assert all(0 < share <= 1 for share in shares) and max(shares) == shares[num_warmup] == 1
    assert shares[:num_warmup] == sorted(shares[:num_warmup])
    assert shares[num_warmup:] == sorted(shares[num_warmup:], reverse=True)


MOVING = [
    {"optimizer": "sgd", "schedule": "linear", "warmup": 0.3, "precision": "64"},
    {"optimizer": "adamw", "schedule": "linear", "warmup": 0.5, "encoder_learning_rate": 0.05},
    {"optimizer": "adagrad", "schedule": "steps", "halve_every": 2, "precision": "bf16-mixed"},
]


@pytest.mark.parametrize("settings", MOVING, ids=str)
def test_a_run_cut_again_and_again_ends_alike(words, samples, config, tmp_path, settings):
    made = config(**settings, max_epochs=4, checkpoint_seconds=0.0, dev_loss_every=2)
    values = [0.5, 0.4, 0.3, 0.6]

    def run(model, folder, resume=False):
        def dev(model):
            return {"RR": values[len(observer.records)]}

        observer = EpochRecords()
        observer.records += [{}] * (epochs_done(folder) if resume else 0)
        return fit(
            model,
            samples,
            made,
            validate=dev,
            dev_samples=samples,
            folder=folder,
            resume=resume,
            observer=observer,
        )

    def epochs_done(folder):
        return torch.load(folder / "last.ckpt", weights_only=True)["state"]["epoch"]

    whole = fragile(words)
    expected = run(whole, tmp_path / "whole")
    for number, step in enumerate((3, 2, 4)):
        with pytest.raises(PowerCut):
            run(fragile(words, break_at=step), tmp_path / "cut", resume=number > 0)
    again = fragile(words)
    again.out.weight.data.zero_()
    result = run(again, tmp_path / "cut", resume=True)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    assert result.dev_loss == expected.dev_loss
    assert [step for step, _ in result.dev_loss] == [2, 4, 6, 8, 10, 12]


@pytest.mark.parametrize(("change", "other"), [({}, True), ({"schedule": "linear"}, False)])
def test_more_epochs_are_another_run_only_for_a_rate_that_ends_with_them(
    words, samples, config, tmp_path, change, other
):
    fit(fragile(words), samples, config(max_epochs=1, **change), folder=tmp_path)
    longer, model = config(max_epochs=2, **change), fragile(words)
    if other:
        assert len(fit(model, samples, longer, folder=tmp_path, resume=True).history) == 2
    else:
        with pytest.raises(ConfigError, match="belongs to other settings"):
            fit(model, samples, longer, folder=tmp_path, resume=True)


def rates_by_name(model, config):
    names = {parameter: name for name, parameter in model.named_parameters()}
    groups = make_optimizer(model, config).param_groups
    return {names[p]: group["lr"] for group in groups for p in group["params"]}


def test_defaults_are_one_group_in_the_order_of_the_model(words):
    model = fragile(words)
    (group,) = make_optimizer(model, TrainConfig(learning_rate=0.3)).param_groups
    assert list(map(id, group["params"])) == list(map(id, model.parameters()))
    assert group["lr"] == 0.3


def test_an_encoder_with_its_own_rate(words):
    config = TrainConfig(learning_rate=0.1, encoder_learning_rate=0.002)
    found = rates_by_name(fragile(words), config)
    assert found == {"encoder.table": 0.002, "out.weight": 0.1, "out.bias": 0.1}


def test_a_rate_that_nothing_has(words):
    frozen = fragile(words, trainable=False)
    with pytest.raises(ConfigError, match=r"encoder_learning_rate = 0\.01 has no effect: the enc"):
        make_optimizer(frozen, TrainConfig(encoder_learning_rate=0.01))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"warmup": 0.1}, r'warmup = 0\.1 needs schedule = "linear"'),
        ({"schedule": "linear", "warmup": 1.0}, "warmup must be at least 0 and below 1, got 1"),
        ({"halve_every": 5}, 'halve_every = 5 needs schedule = "steps"'),
        ({"schedule": "steps", "halve_every": 0}, "halve_every must be at least 1, got 0"),
        ({"encoder_learning_rate": 0.0}, r"encoder_learning_rate must be positive, got 0\.0"),
    ],
)
def test_impossible_rates(settings, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**settings)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("precision", ["32", "16-mixed", "bf16-mixed"])
@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_one_kernel_moves_all_parameters_where_gradients_can_still_be_clipped(
    device, precision, clip_norm
):
    config = TrainConfig(optimizer="adamw", precision=precision, clip_norm=clip_norm)
    possible = clip_norm is None or precision != "16-mixed"
    assert can_fuse(config, torch.device(device)) == possible

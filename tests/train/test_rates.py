"""Learning rates: of every parameter, at every step, wherever a run is cut."""

import pytest
import torch
from fragile_model import PowerCut, fragile
from hypothesis import given
from hypothesis import strategies as st
from tiny_transformers import save_transformer

from matchwork.encode import load_transformer
from matchwork.errors import ConfigError
from matchwork.models import MODELS
from matchwork.train import TrainConfig, fit
from matchwork.train.optimizer import is_fused, linear_share, make_optimizer, num_halvings


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


def scripted(*values):
    """A dev whose measure in an epoch is known beforehand."""
    left = iter(values)
    return lambda model: {"RR": next(left)}


def test_the_rate_of_a_schedule_step_by_step(words, samples, config, monkeypatch):
    """Two epochs of three batches: a third of them to warm up."""
    rates = Rates(monkeypatch)
    settings = config(optimizer="sgd", schedule="linear", warmup=1 / 3, learning_rate=0.12)
    fit(fragile(words), samples, settings)
    assert rates.seen == pytest.approx([0.04, 0.08, 0.12, 0.09, 0.06, 0.03])


def test_halving_follows_dev(words, samples, config, monkeypatch):
    rates = Rates(monkeypatch)
    settings = config(
        optimizer="sgd",
        schedule="halve",
        halve_patience=2,
        learning_rate=0.4,
        min_learning_rate=0.15,
        batch_size=12,
        max_epochs=8,
    )
    dev = scripted(0.5, 0.4, 0.5, 0.3, 0.6, 0.6, 0.1, 0.1)
    fit(fragile(words), samples, settings, validate=dev)
    assert rates.seen == [0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2, 0.15]


def test_steps_come_with_epochs_alone(words, samples, config, monkeypatch):
    rates = Rates(monkeypatch)
    steps = {"schedule": "steps", "halve_every": 2}
    settings = config(optimizer="sgd", learning_rate=0.4, batch_size=12, max_epochs=5, **steps)
    fit(fragile(words), samples, settings)
    assert rates.seen == [0.4, 0.4, 0.2, 0.2, 0.1]


@given(st.integers(1, 300), st.floats(0, 0.99))
def test_a_linear_rate_rises_then_falls_and_is_never_nothing(num_steps, warmup):
    num_warmup = round(warmup * num_steps)
    if num_warmup == num_steps:
        num_warmup -= 1
    shares = [linear_share(step, num_steps, num_warmup) for step in range(num_steps)]
    assert all(0 < share <= 1 for share in shares) and max(shares) == shares[num_warmup] == 1
    assert shares[:num_warmup] == sorted(shares[:num_warmup])
    assert shares[num_warmup:] == sorted(shares[num_warmup:], reverse=True)


def test_halvings_start_to_count_again():
    history = [{"best": float(best)} for best in (1, 0, 0, 0, 1, 0, 0, 0, 0)]
    assert [num_halvings(history[:n], 2) for n in range(10)] == [0, 0, 0, 1, 1, 1, 1, 2, 2, 3]


MOVING = [
    {"optimizer": "sgd", "momentum": 0.9},
    {"optimizer": "sgd", "momentum": 0.9, "nesterov": True, "precision": "bf16-mixed"},
    {"optimizer": "sgd", "momentum": 0.5, "schedule": "linear", "warmup": 0.3, "precision": "64"},
    {"optimizer": "adamw", "schedule": "linear", "warmup": 0.5, "encoder_learning_rate": 0.05},
    {"schedule": "halve", "halve_patience": 1, "min_learning_rate": 0.001},
    {"optimizer": "sgd", "momentum": 0.5, "schedule": "steps", "halve_every": 2},
]


@pytest.mark.parametrize("settings", MOVING, ids=str)
def test_a_run_cut_again_and_again_ends_alike(words, samples, config, tmp_path, settings):
    made = config(**settings, max_epochs=4, checkpoint_seconds=0.0, dev_loss_every=2)
    values = [0.5, 0.4, 0.3, 0.6]

    def run(model, folder, resume=False):
        def dev(model):
            return {"RR": values[len(told)]}

        told = [] if not resume else list(range(epochs_done(folder)))
        return fit(
            model,
            samples,
            made,
            validate=dev,
            dev_samples=samples,
            folder=folder,
            resume=resume,
            on_epoch=told.append,
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


def test_momentum_is_what_torch_does(words, samples, config):
    """One batch an epoch: the second step goes on with the first."""

    def moved(**settings):
        model, weights = fragile(words), []
        model.dropout.p = 0.0
        sgd = config(optimizer="sgd", batch_size=12, max_epochs=2, **settings)
        fit(
            model,
            samples,
            sgd,
            validate=lambda m: (weights.append(m.out.weight.detach().clone()), {"RR": 0.0})[1],
        )
        return weights

    plain, heavy, ahead = moved(), moved(momentum=0.5), moved(momentum=0.5, nesterov=True)
    before = fragile(words).out.weight.detach()
    first = plain[0] - before
    assert torch.allclose(heavy[0], plain[0]) and torch.allclose(ahead[0], before + 1.5 * first)
    assert torch.allclose(heavy[1], plain[1] + 0.5 * first, rtol=0, atol=1e-6)


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


@pytest.fixture(scope="module")
def trained_transformer(bert_folder):
    torch.manual_seed(0)
    _, encoder = load_transformer(bert_folder, trainable=True)
    return MODELS["knrm"].model(MODELS["knrm"].config({}), encoder)


def test_layer_by_layer(trained_transformer):
    layers = trained_transformer.encoder.layers()
    assert len(layers) == trained_transformer.encoder.transformer.config.num_hidden_layers >= 2
    config = TrainConfig(learning_rate=0.1, encoder_learning_rate=0.01, layer_decay=0.5)
    found = rates_by_name(trained_transformer, config)
    top = len(layers) - 1
    for name, rate in found.items():
        if not name.startswith("encoder."):
            assert rate == 0.1, name
        elif ".layer." in name:
            number = int(name.partition(".layer.")[2].partition(".")[0])
            assert rate == pytest.approx(0.01 * 0.5 ** (top - number)), name
        else:
            assert rate == pytest.approx(0.01 * 0.5 ** len(layers)), name
    assert len(set(found.values())) == len(layers) + 2


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize(
    ("kind", "name", "part"),
    [
        ("modernbert", "final_norm.weight", 1),
        ("roberta-prelayernorm", "LayerNorm.weight", 1),
        ("mpnet", "encoder.relative_attention_bias.weight", 0.25),
        ("deberta-v2", "encoder.rel_embeddings.weight", 0.25),
        ("deberta-v2", "encoder.LayerNorm.weight", 0.25),
    ],
)
def test_a_norm_behind_the_last_layer_learns_as_it_does(tmp_path, kind, name, part):
    """Relative positions, also listed after the layers, go into all of them."""
    special = dict.fromkeys(("pad", "bos", "eos", "cls", "sep"), 0)
    changes = {f"{role}_token_id": number for role, number in special.items()}
    if kind == "deberta-v2":
        changes |= {"relative_attention": True, "norm_rel_ebd": "layer_norm"}
    _, encoder = load_transformer(
        save_transformer(tmp_path / "made", kind, **changes), trainable=True
    )
    model = MODELS["knrm"].model(MODELS["knrm"].config({}), encoder)
    config = TrainConfig(learning_rate=0.1, encoder_learning_rate=0.01, layer_decay=0.5)
    found = rates_by_name(model, config)
    assert found[f"encoder.transformer.{name}"] == pytest.approx(0.01 * part)
    table = next(
        name for name in found if name.endswith(("word_embeddings.weight", "tok_embeddings.weight"))
    )
    assert found[table] == pytest.approx(0.01 * 0.25)


def test_rates_that_nothing_has(words, bert_folder):
    frozen = fragile(words, trainable=False)
    with pytest.raises(ConfigError, match=r"encoder_learning_rate = 0\.01 has no effect: the enc"):
        make_optimizer(frozen, TrainConfig(encoder_learning_rate=0.01))
    with pytest.raises(ConfigError, match=r"layer_decay = 0\.9 has no effect: the encoder has no"):
        make_optimizer(fragile(words), TrainConfig(layer_decay=0.9))
    _, encoder = load_transformer(bert_folder)
    still = MODELS["knrm"].model(MODELS["knrm"].config({}), encoder)
    with pytest.raises(ConfigError, match=r"layer_decay = 0\.9 has no effect"):
        make_optimizer(still, TrainConfig(layer_decay=0.9))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"momentum": 0.9}, r'momentum = 0\.9 needs optimizer = "sgd"'),
        ({"optimizer": "sgd", "momentum": 1.0}, "momentum must be at least 0 and below 1, got 1"),
        ({"nesterov": True}, 'nesterov = True needs optimizer = "sgd"'),
        ({"optimizer": "sgd", "nesterov": True}, "nesterov needs a momentum above 0"),
        ({"warmup": 0.1}, r'warmup = 0\.1 needs schedule = "linear"'),
        ({"schedule": "linear", "warmup": 1.0}, "warmup must be at least 0 and below 1, got 1"),
        ({"halve_patience": 3}, 'halve_patience = 3 needs schedule = "halve"'),
        ({"schedule": "linear", "min_learning_rate": 0.0}, 'needs schedule = "halve"'),
        ({"schedule": "halve", "halve_patience": 0}, "halve_patience must be at least 1 epoch"),
        (
            {"schedule": "halve", "learning_rate": 1e-4},
            r"below learning_rate \(0\.0001\), got 0\.0001",
        ),
        ({"halve_every": 5}, 'halve_every = 5 needs schedule = "steps"'),
        ({"schedule": "steps", "halve_every": 0}, "halve_every must be at least 1, got 0"),
        ({"encoder_learning_rate": 0.0}, r"encoder_learning_rate must be positive, got 0\.0"),
        ({"layer_decay": 0.0}, r"layer_decay must be above 0 and at most 1, got 0\.0"),
        ({"layer_decay": 1.1}, r"layer_decay must be above 0 and at most 1, got 1\.1"),
    ],
)
def test_impossible_rates(settings, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**settings)


def test_halving_needs_a_dev(words, samples, config):
    with pytest.raises(ConfigError, match='schedule = "halve" follows the dev measure'):
        fit(fragile(words), samples, config(schedule="halve"))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("precision", ["32", "16-mixed", "bf16-mixed"])
@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_one_kernel_moves_all_parameters_where_gradients_can_still_be_clipped(
    device, precision, clip_norm
):
    config = TrainConfig(optimizer="adamw", precision=precision, clip_norm=clip_norm)
    possible = clip_norm is None or precision != "16-mixed"
    assert is_fused(config, torch.device(device)) == possible

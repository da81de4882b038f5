"""What training leaves behind: the best weights, a history, logs; and how it refuses."""

import csv
from collections.abc import Iterator

import pytest
import torch
from epoch_records import EpochRecords
from fit_model import fit
from fragile_model import fragile
from safetensors.torch import load_file
from tiny_transformers import tiny_encoder

from matchwork.errors import ConfigError, OutputError, UnknownNameError
from matchwork.models import MODELS
from matchwork.train import TrainConfig


class Scripted:
    """Dev values from a list, and the weights that each was given for."""

    def __init__(self, *values: float) -> None:
        self.values: Iterator[float] = iter(values)
        self.weights: list[dict[str, torch.Tensor]] = []

    def __call__(self, model):
        self.weights.append({k: v.clone() for k, v in model.state_dict().items()})
        return {"RR": next(self.values)}


def assert_equal_weights(one, two):
    assert one.keys() == two.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, two[name]), name


def test_the_best_epoch_is_kept(words, samples, config, tmp_path):
    model, dev = fragile(words), Scripted(0.2, 0.9, 0.9, 0.5)
    result = fit(model, samples, config(max_epochs=4), validate=dev, folder=tmp_path)
    assert (result.best_epoch, result.best_value) == (2, 0.9)  # the first of equals
    assert [record["best"] for record in result.history] == [1, 1, 0, 0]
    assert_equal_weights(model.state_dict(), dev.weights[1])
    assert not torch.equal(dev.weights[1]["out.weight"], dev.weights[3]["out.weight"])
    assert_equal_weights(load_file(tmp_path / "best.safetensors"), dev.weights[1])


def test_without_dev_the_last_epoch_counts(words, samples, config):
    result = fit(fragile(words), samples, config(max_epochs=3, patience=1))
    assert (result.best_epoch, result.best_value) == (3, None)


def test_training_stops_when_dev_does_not_improve(words, samples, config):
    dev = Scripted(0.5, 0.6, 0.4, 0.6, 0.9)
    result = fit(fragile(words), samples, config(max_epochs=9, patience=2), validate=dev)
    assert [record["RR"] for record in result.history] == [0.5, 0.6, 0.4, 0.6]
    assert result.best_epoch == 2


def test_gradients_are_clipped(words, samples, config):
    def moved(clip_norm):
        model = fragile(words)
        before = [p.detach().clone() for p in model.parameters()]
        fit(
            model,
            samples,
            config(
                optimizer="sgd",
                learning_rate=0.5,
                batch_size=12,
                max_epochs=1,
                clip_norm=clip_norm,
            ),
        )
        steps = [p.detach() - b for p, b in zip(model.parameters(), before, strict=True)]
        return torch.cat([step.ravel() for step in steps]).norm().item()

    assert moved(0.001) == pytest.approx(0.5 * 0.001, rel=1e-3)
    assert moved(None) > 0.01


def test_history_and_logs(words, samples, config, tmp_path):
    epochs = EpochRecords()
    result = fit(
        fragile(words),
        samples,
        config(batch_size=1, max_epochs=2),
        validate=Scripted(0.25, 0.5),
        folder=tmp_path,
        observer=epochs,
    )
    with (tmp_path / "history.csv").open() as stream:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(stream)]
    assert rows == result.history == epochs.records
    assert [(row["epoch"], row["RR"]) for row in rows] == [(1, 0.25), (2, 0.5)]
    assert rows[0]["loss"] > rows[1]["loss"] > 0
    with (tmp_path / "logs" / "version_0" / "metrics.csv").open() as stream:
        logged = list(csv.DictReader(stream))
    assert [row["step"] for row in logged] == ["12", "20", "24"]
    assert [row["RR"] for row in logged] == ["0.25", "", "0.5"]
    assert list((tmp_path / "tensorboard").rglob("events.out.tfevents.*"))
    assert not list(tmp_path.rglob("*.part")) and not (tmp_path / ".writable").exists()


@pytest.mark.parametrize("precision", ["32", "64", "bf16-mixed"])
@pytest.mark.parametrize("loss", ["hinge", "softmax", "cross-entropy", "squared"])
def test_precisions(words, samples, config, tmp_path, precision, loss):
    model = fragile(words)
    settings = config(loss=loss, precision=precision, max_epochs=8, learning_rate=0.05)
    result = fit(model, samples, settings, folder=tmp_path)
    assert result.history[-1]["loss"] < result.history[0]["loss"]
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    kept = load_file(tmp_path / "best.safetensors")
    assert kept["out.weight"].dtype == (torch.float64 if precision == "64" else torch.float32)


def test_equal_seeds_train_alike_whatever_came_before(words, samples, config):
    """Dropout included: the global random numbers do not matter."""
    weights = []
    for seed, before in ((3, 1), (3, 2), (4, 1)):
        model = fragile(words)
        torch.manual_seed(before)
        fit(model, samples, config(), seed=seed)
        weights.append(model.out.weight.detach().clone())
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_dropout_differs_from_step_to_step(words, samples, config):
    model = fragile(words)
    seen = []
    model.dropout.register_forward_hook(lambda module, inputs, output: seen.append(output == 0))
    fit(model, samples, config(batch_size=12))
    assert len(seen) == 2 and not torch.equal(seen[0], seen[1])


def test_frozen_vectors_are_not_written_again(words, samples, config, tmp_path):
    model = fragile(words, trainable=False)
    table = model.encoder.table.clone()
    fit(model, samples, config(), folder=tmp_path)
    assert set(load_file(tmp_path / "best.safetensors")) == {"out.weight", "out.bias"}
    checkpoint = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert set(checkpoint["model"]) == {"out.weight", "out.bias"}
    assert torch.equal(model.encoder.table, table)


def test_a_measure_by_its_other_name(words, samples, config):
    """Else early stopping would look for a value that is never there."""
    settings = config(max_epochs=6, patience=1, dev_measure="MRR")
    result = fit(fragile(words), samples, settings, validate=Scripted(0.5, 0.4, 0.3))
    assert (len(result.history), result.best_epoch, result.best_value) == (2, 1, 0.5)


def test_dev_must_give_the_measure_asked_for(words, samples, config):
    with pytest.raises(ConfigError, match="dev_measure is 'AP', but measured on dev were RR"):
        fit(fragile(words), samples, config(dev_measure="AP"), validate=Scripted(0.5))


def test_a_folder_that_cannot_be_written_is_found_out_first(words, samples, config, tmp_path):
    (tmp_path / "file").write_text("in the way")
    model = fragile(words)
    with pytest.raises(OutputError, match=r"cannot write .*file"):
        fit(model, samples, config(), folder=tmp_path / "file")
    assert model.calls == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"max_epochs": 0}, "max_epochs must be at least 1, got 0"),
        ({"learning_rate": 0.0}, r"learning_rate must be positive, got 0\.0"),
        ({"patience": 0}, "patience must be at least 1, got 0"),
        ({"margin": -1.0}, r"margin must not be negative, got -1\.0"),
        ({"clip_norm": 0.0}, r"clip_norm must be positive, got 0\.0"),
        (
            {"loss": "softmax", "negatives": "own", "temperature": 0.0},
            r"temperature must be positive, got 0\.0",
        ),
        ({"temperature": 0.1}, 'temperature = 0.1 needs loss = "softmax"; with loss = "cross-e'),
        ({"loss": "hinge"}, "loss 'hinge' compares .* negatives = \"labelled\""),
        (
            {"loss": "softmax", "negatives": "in-batch", "batch_size": 1},
            "in-batch negatives need a batch_size of at least 2, got 1",
        ),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**settings)


def test_in_batch_negatives_need_texts_that_are_encoded_separately(samples, words):
    """Else training would encode them separately, and scoring together."""
    encoder = tiny_encoder(words.vocab_size, 8, cross_encode=True)
    model = MODELS["colbert"].model(MODELS["colbert"].config({}), encoder)
    config = TrainConfig(loss="softmax", negatives="in-batch", accelerator="cpu")
    with pytest.raises(ConfigError, match="this model cross-encodes pairs; use"):
        fit(model, samples, config)


def test_unknown_dev_measure():
    with pytest.raises(UnknownNameError, match="no measure named 'RRR'; did you mean"):
        TrainConfig(dev_measure="RRR")

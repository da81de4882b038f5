"""Whatever ends a run, going on with it ends where the whole run would have ended."""

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fit_model import fit
from fragile_model import FragileModel, PowerCut, bad_gradient, ctrl_c, cut, fragile, not_a_number

from matchwork.errors import ConfigError, FolderError, OutputError, TrainingError
from matchwork.train import TrainConfig, TrainingSet, TrainObserver, TrainResult, train
from matchwork.train.state import save_checkpoint

STEPS = 9  # three epochs of three batches
EVERY_STEP = {"max_epochs": 3, "checkpoint_seconds": 0.0, "negatives": "replace"}


def dev_values(model: FragileModel) -> dict[str, float]:
    """A stand-in for dev that every weight moves."""
    return {"RR": sum(p.detach().double().sum().item() for p in model.parameters())}


def outcome(model: FragileModel, result: TrainResult) -> tuple[Any, ...]:
    history = [{k: v for k, v in r.items() if k != "seconds"} for r in result.history]
    weights = {name: tensor.numpy().tobytes() for name, tensor in model.state_dict().items()}
    return weights, history, result.best_epoch, result.best_value


Whole = Callable[[TrainConfig], tuple[Any, ...]]


@pytest.fixture
def whole(words, samples) -> Whole:
    def run(settings: TrainConfig) -> tuple[Any, ...]:
        model = fragile(words)
        return outcome(model, fit(model, samples, settings, validate=dev_values))

    return run


def interrupted(
    words: Any, samples: TrainingSet, settings: TrainConfig, folder: Path, cuts: list[int]
) -> tuple[Any, ...]:
    """Break at the given steps, counted anew after every start, then run to the end."""
    for number, step in enumerate(cuts):
        model = fragile(words, break_at=step)
        with pytest.raises(PowerCut):
            fit(model, samples, settings, folder=folder, validate=dev_values, resume=number > 0)
        torch.manual_seed(number)  # a new process would not know the old random numbers
    model = fragile(words)
    model.out.weight.data.zero_()  # nor the old weights
    result = fit(model, samples, settings, folder=folder, validate=dev_values, resume=True)
    return outcome(model, result)


@pytest.mark.parametrize("step", range(2, STEPS + 1))
def test_a_run_cut_at_any_step(words, samples, config, whole, tmp_path, step):
    settings = config(**EVERY_STEP)
    found = interrupted(words, samples, settings, tmp_path, [step])
    assert found == whole(settings)


@pytest.mark.parametrize(
    ("optimizer", "precision"),
    [
        ("adam", "32"),
        ("adamw", "32"),
        ("adagrad", "32"),
        ("sgd", "32"),
        ("adam", "64"),
        ("adam", "bf16-mixed"),
    ],
)
def test_many_cuts_with_any_optimizer(
    words, samples, config, whole, tmp_path, optimizer, precision
):
    settings = config(
        **EVERY_STEP, optimizer=optimizer, precision=precision, weight_decay=0.01, clip_norm=1.0
    )
    assert interrupted(words, samples, settings, tmp_path, [3, 2, 4]) == whole(settings)


def test_a_full_disk_is_named(words, samples, config, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 64 vs 0")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OutputError, match=r"cannot write .*last\.ckpt.*check free space"):
        fit(fragile(words), samples, config(), folder=tmp_path)
    assert not list(tmp_path.glob("*.ckpt*"))


def test_saving_that_takes_long_is_seldom(words, samples, config, whole, tmp_path, monkeypatch):
    saved = []

    def slowly(folder, state, tensors, fingerprint):
        saved.append(state.epoch)
        save_checkpoint(folder, state, tensors, fingerprint)
        time.sleep(0.3)

    monkeypatch.setattr("matchwork.train.module.save_checkpoint", slowly)
    settings = config(max_epochs=3)
    expected = whole(settings)
    assert saved == [1, 3]
    # Cut in the third epoch: there is a checkpoint of the first.
    assert interrupted(words, samples, settings, tmp_path, [8]) == expected


def test_seldom_checkpoints_repeat_more_but_end_alike(words, samples, config, whole, tmp_path):
    settings = config(max_epochs=3)
    assert interrupted(words, samples, settings, tmp_path, [8]) == whole(settings)


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_cut_while_dev_is_measured(words, samples, config, whole, tmp_path, epoch):
    """All batches of the epoch are done, but the epoch is not."""
    settings, measured = config(**EVERY_STEP), 0

    def cut_dev(model: FragileModel) -> dict[str, float]:
        nonlocal measured
        measured += 1
        if measured == epoch:
            raise PowerCut
        return dev_values(model)

    with pytest.raises(PowerCut):
        fit(fragile(words), samples, settings, folder=tmp_path, validate=cut_dev)
    again = fragile(words)
    result = fit(again, samples, settings, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(again, result) == whole(settings)
    assert again.calls == STEPS - 3 * epoch


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_cut_after_an_epoch(words, samples, config, whole, tmp_path, epoch):
    settings = config(**EVERY_STEP)

    class Stop(TrainObserver):
        def epoch(self, record: Any) -> None:
            if record["epoch"] == epoch:
                raise PowerCut

    with pytest.raises(PowerCut):
        fit(
            fragile(words),
            samples,
            settings,
            folder=tmp_path,
            validate=dev_values,
            observer=Stop(),
        )
    again = fragile(words)
    result = fit(again, samples, settings, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(again, result) == whole(settings)


def test_ctrl_c_is_an_interrupt_like_any_other(words, samples, config, whole, tmp_path):
    """Lightning would exit the interpreter, and ignore Ctrl-C from then on."""
    settings, before = config(**EVERY_STEP), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(
            fragile(words, break_at=5, how=ctrl_c),
            samples,
            settings,
            folder=tmp_path,
            validate=dev_values,
        )
    assert signal.getsignal(signal.SIGINT) == before
    again = fragile(words)
    result = fit(again, samples, settings, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(again, result) == whole(settings)


def test_nothing_is_left_to_do(words, samples, config, whole, tmp_path):
    settings = config(max_epochs=2)
    fit(fragile(words), samples, settings, folder=tmp_path, validate=dev_values)
    again = fragile(words, break_at=1, how=cut)
    result = fit(again, samples, settings, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(again, result) == whole(settings)


def test_more_epochs_go_on_with_the_same_run(words, samples, config, whole, tmp_path):
    fit(fragile(words), samples, config(max_epochs=1), folder=tmp_path, validate=dev_values)
    longer, model = config(max_epochs=4), fragile(words)
    result = fit(model, samples, longer, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(model, result) == whole(longer) and model.calls == 9


def test_resuming_an_empty_folder_starts(words, samples, config, whole, tmp_path):
    model = fragile(words)
    result = fit(model, samples, config(), folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(model, result) == whole(config())


@pytest.mark.parametrize("step", [1, 2, 5])
def test_nan_stops_and_keeps_the_last_good_checkpoint(
    words, samples, config, whole, tmp_path, step
):
    settings = config(**EVERY_STEP)
    epoch = (step + 2) // 3
    model = fragile(words, break_at=step, how=not_a_number)
    with pytest.raises(
        TrainingError, match=rf"the loss is nan at step {step} \(epoch {epoch}\).*learning rate"
    ):
        fit(model, samples, settings, folder=tmp_path, validate=dev_values)
    if step > 1:
        kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
        assert kept["state"]["step"] == step - 1
        assert all(torch.isfinite(tensor).all() for tensor in kept["model"].values())
    again = fragile(words)
    result = fit(again, samples, settings, folder=tmp_path, validate=dev_values, resume=True)
    assert outcome(again, result) == whole(settings)


@pytest.mark.parametrize("step", [2, 3, 4])
def test_a_nan_gradient_is_never_checkpointed(words, samples, config, tmp_path, step):
    settings = config(**EVERY_STEP)
    epoch = (step + 2) // 3
    model = fragile(words, break_at=step, how=bad_gradient)
    with pytest.raises(
        TrainingError,
        match=rf"parameter '.*' is no longer finite .* at step {step} \(epoch {epoch}",
    ):
        fit(model, samples, settings, folder=tmp_path, validate=dev_values)
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert kept["state"]["step"] == step - 1
    assert all(torch.isfinite(tensor).all() for tensor in kept["model"].values())


def test_scores_that_overflow_on_dev_name_the_step(matcher, questions, tmp_path):
    """Huge but finite weights: training goes on, dev shows it."""
    settings = {"optimizer": "sgd", "learning_rate": 1e30, "accelerator": "cpu", "batch_size": 12}
    with pytest.raises(TrainingError, match=r"dev cannot be measured after step 1 \(epoch 1\)"):
        train(matcher("knrm"), questions, folder=tmp_path, max_epochs=1, **settings)
    assert not (tmp_path / "last.ckpt").exists()


def test_a_used_folder_is_not_overwritten(words, samples, config, tmp_path):
    fit(fragile(words), samples, config(), folder=tmp_path)
    before = (tmp_path / "last.ckpt").read_bytes()
    with pytest.raises(ConfigError, match="already holds a training run; continue it with --res"):
        fit(fragile(words), samples, config(), folder=tmp_path)
    assert (tmp_path / "last.ckpt").read_bytes() == before


def test_other_settings_or_data_do_not_resume(words, samples, config, tmp_path):
    fit(fragile(words), samples, config(), folder=tmp_path)
    other_labels = samples.labels.copy()
    other_labels[0] = 1 - other_labels[0]
    for changed in (
        {"config": config(learning_rate=0.02)},
        {"config": config(batch_size=5)},
        {"seed": 1},
        {"samples": replace(samples, labels=other_labels)},
        {"model": fragile(words, trainable=False)},
    ):
        arguments = {"model": fragile(words), "samples": samples, "config": config(), **changed}
        with pytest.raises(ConfigError, match="belongs to other settings or data; resume with"):
            fit(**arguments, folder=tmp_path, resume=True)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_cut_checkpoint_is_named(words, samples, config, tmp_path, keep):
    fit(fragile(words), samples, config(), folder=tmp_path)
    path = tmp_path / "last.ckpt"
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if keep < 1 else keep])
    with pytest.raises(FolderError, match=r"last\.ckpt: the checkpoint cannot be read.*delete it"):
        fit(fragile(words), samples, config(), folder=tmp_path, resume=True)


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"abc")])
def test_spoilt_best_weights_are_named(words, samples, config, tmp_path, spoil):
    fit(fragile(words), samples, config(), folder=tmp_path)
    spoil(tmp_path / "best.safetensors")
    with pytest.raises(FolderError, match=r"best\.safetensors: the best weights cannot be read"):
        fit(fragile(words), samples, config(), folder=tmp_path, resume=True)


def test_a_foreign_checkpoint_is_refused(words, samples, config, tmp_path):
    torch.save({"state_dict": {}}, tmp_path / "last.ckpt")
    with pytest.raises(ConfigError, match="belongs to other settings or data"):
        fit(fragile(words), samples, config(), folder=tmp_path, resume=True)


def test_resume_needs_a_folder(matcher, questions):
    with pytest.raises(ConfigError, match="resume needs the folder"):
        train(matcher(), questions, resume=True)

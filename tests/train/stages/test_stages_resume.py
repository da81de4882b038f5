"""Whatever ends a run inside a stage, going on with it ends where the whole run would have."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from fit_model import fit
from fragile_model import PowerCut, bad_gradient, ctrl_c, not_a_number
from staged_model import GuessConfig, StagedModel, staged
from torch import nn

from matchwork.errors import ConfigError, TrainingError
from matchwork.models import StageConfig
from matchwork.train import TrainConfig, TrainingSet, TrainObserver, TrainResult

Plan = Mapping[str, StageConfig]
EVERY_STEP = {"checkpoint_seconds": 0.0}


def outcome(model: StagedModel, result: TrainResult) -> Any:
    def untimed(history: list[dict[str, float]]) -> list[dict[str, float]]:
        return [{k: v for k, v in record.items() if k != "seconds"} for record in history]

    weights = {name: tensor.numpy().tobytes() for name, tensor in model.state_dict().items()}
    stages = [(s.hash, s.best_epoch, s.best_loss, untimed(s.history)) for s in result.stages]
    return weights, stages, untimed(result.history)


def whole(words: Any, samples: TrainingSet, settings: TrainConfig, stages: Plan) -> Any:
    model = staged(words)
    return outcome(model, fit(model, samples, settings, dev_samples=samples, stages=stages))


def resumed(
    words: Any,
    samples: TrainingSet,
    settings: TrainConfig,
    folder: Path,
    stages: Plan | None = None,
) -> Any:
    torch.manual_seed(99)  # a new process would not know the old random numbers
    model = staged(words)
    result = fit(
        model, samples, settings, dev_samples=samples, folder=folder, stages=stages, resume=True
    )
    return outcome(model, result)


CUTS = [*(("queries", n) for n in (1, 2, 3)), *(("documents", n) for n in (1, 6, 7, 12))]


@pytest.mark.parametrize(("stage", "step"), [*CUTS, ("whole", 1), ("whole", 4)])
def test_cut_at_any_step_of_any_stage(words, samples, config, tmp_path, stage, step):
    settings = config(**EVERY_STEP)
    with pytest.raises(PowerCut):
        model = staged(words, stage, step)
        fit(model, samples, settings, dev_samples=samples, folder=tmp_path)
    assert resumed(words, samples, settings, tmp_path) == whole(words, samples, settings, {})


@pytest.mark.parametrize(
    ("optimizer", "precision"),
    [("adam", "32"), ("adagrad", "32"), ("sgd", "64"), ("adamw", "bf16-mixed")],
)
def test_many_cuts_with_any_optimizer(words, samples, config, tmp_path, optimizer, precision):
    settings = config(**EVERY_STEP, precision=precision)
    stage = GuessConfig(optimizer=optimizer, weight_decay=0.01, clip_norm=0.1, learning_rate=0.1)
    stages = {"queries": stage, "documents": stage}
    for number, cut in enumerate([("queries", 2), ("queries", 2), ("documents", 5)]):
        with pytest.raises(PowerCut):
            fit(
                staged(words, *cut),
                samples,
                settings,
                dev_samples=samples,
                folder=tmp_path,
                resume=number > 0,
                stages=stages,
            )
    found = resumed(words, samples, settings, tmp_path, stages)
    assert found == whole(words, samples, settings, stages)


def test_seldom_checkpoints_repeat_more_but_end_alike(words, samples, config, tmp_path):
    with pytest.raises(PowerCut):
        model = staged(words, "documents", 9)
        fit(model, samples, config(), dev_samples=samples, folder=tmp_path)
    model = staged(words)
    result = fit(model, samples, config(), dev_samples=samples, folder=tmp_path, resume=True)
    assert model.steps.count("queries") == 0 and model.steps.count("documents") == 6
    assert outcome(model, result) == whole(words, samples, config(), {})


@pytest.mark.parametrize("moment", ["after an epoch", "while finishing"])
def test_cut_between_steps(words, samples, config, tmp_path, moment):
    def stop(*_: Any) -> None:
        raise PowerCut

    model, observer = staged(words), TrainObserver()
    if moment == "after an epoch":
        observer.stage_epoch = stop  # type: ignore[method-assign]
    else:
        model.finished = type("Full", (list,), {"append": stop})()
    with pytest.raises(PowerCut):
        fit(model, samples, config(), dev_samples=samples, folder=tmp_path, observer=observer)
    found = resumed(words, samples, config(), tmp_path)
    assert found == whole(words, samples, config(), {})


def test_ctrl_c_leaves_a_run_that_goes_on(words, samples, config, tmp_path):
    settings = config(**EVERY_STEP)
    with pytest.raises(KeyboardInterrupt):
        model = staged(words, "documents", 5, ctrl_c)
        fit(model, samples, settings, dev_samples=samples, folder=tmp_path)
    assert model.documents.weight.requires_grad is False
    found = resumed(words, samples, settings, tmp_path)
    assert found == whole(words, samples, settings, {})


def test_a_loss_that_is_not_finite_names_the_stage(words, samples, config, tmp_path):
    model = staged(words, "documents", 8, not_a_number)
    message = r"stage documents: the loss is nan at step 8 \(epoch 2\); training stopped and"
    with pytest.raises(TrainingError, match=message):
        fit(model, samples, config(**EVERY_STEP), dev_samples=samples, folder=tmp_path)
    kept = torch.load(tmp_path / "stages/documents/last.ckpt", weights_only=True)
    assert kept["state"]["step"] == 7


def test_a_gradient_that_is_not_finite_is_never_kept(words, samples, config, tmp_path):
    model = staged(words, "queries", 2, bad_gradient)
    message = r"stage queries: parameter '.*' is no longer finite .* at step 2"
    with pytest.raises(TrainingError, match=message):
        fit(model, samples, config(**EVERY_STEP), dev_samples=samples, folder=tmp_path)
    kept = torch.load(tmp_path / "stages/queries/last.ckpt", weights_only=True)
    assert kept["state"]["step"] == 1
    assert all(torch.isfinite(tensor).all() for tensor in kept["model"].values())


def test_a_dev_loss_that_is_not_finite(words, samples, config):
    model = staged(words)
    stages = model.stages()
    stages[0].measure = lambda texts: {"loss": float("inf")}  # type: ignore[method-assign]
    model.stages = lambda: stages  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match="stage queries: the loss on dev is inf at step 2"):
        fit(model, samples, config(), dev_samples=samples)


def test_no_batches(words, samples, config):
    model = staged(words)
    stages = model.stages()
    stages[0].batches = lambda *_: []  # type: ignore[method-assign]
    model.stages = lambda: stages  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match="stage queries: the training texts give no batch"):
        fit(model, samples, config(), dev_samples=samples)


@pytest.mark.parametrize("where", ["queries", "documents", "whole"])
def test_other_settings_do_not_resume(words, samples, config, tmp_path, where):
    """Neither inside the stage, nor after it, nor in the training of the whole."""
    with pytest.raises(PowerCut):
        model = staged(words, where, 4)
        fit(model, samples, config(**EVERY_STEP), dev_samples=samples, folder=tmp_path)
    other = {"queries": GuessConfig(noise=0.3)}
    with pytest.raises(ConfigError, match="belongs to other settings or data; resume with the"):
        resumed(words, samples, config(**EVERY_STEP), tmp_path, other)


def test_the_whole_belongs_to_its_stages_even_when_their_folder_is_gone(
    words, samples, config, tmp_path
):
    fit(staged(words), samples, config(), dev_samples=samples, folder=tmp_path)
    shutil.rmtree(tmp_path / "stages")
    other = {"queries": GuessConfig(noise=0.3)}
    with pytest.raises(ConfigError, match="belongs to other settings or data; resume with the"):
        resumed(words, samples, config(), tmp_path, other)


def test_a_used_folder_is_not_overwritten(words, samples, config, tmp_path):
    with pytest.raises(PowerCut):
        model = staged(words, "queries", 3)
        fit(model, samples, config(), dev_samples=samples, folder=tmp_path)
    with pytest.raises(ConfigError, match="already holds a training run; continue it with --res"):
        fit(staged(words), samples, config(), dev_samples=samples, folder=tmp_path)


def test_nothing_is_left_to_do(words, samples, config, tmp_path):
    model = staged(words)
    first = fit(model, samples, config(), dev_samples=samples, folder=tmp_path)
    again = staged(words)
    nn.init.zeros_(again.out[0].weight)
    second = fit(again, samples, config(), dev_samples=samples, folder=tmp_path, resume=True)
    assert again.steps == [] and outcome(again, second) == outcome(model, first)
    assert not any(stage.reused for stage in second.stages)

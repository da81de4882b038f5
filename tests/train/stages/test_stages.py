"""Stages are trained in order, on their own, and once: what was learnt before is used again."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fit_model import fit
from staged_model import GuessConfig, StagedModel, staged

from matchwork.errors import ConfigError
from matchwork.matcher import Matcher
from matchwork.models import MODELS, StageConfig
from matchwork.text import TokenTable
from matchwork.train import TrainingSet, TrainObserver, TrainResult, train
from matchwork.train.config import stage_configs
from matchwork.train.run import StageResult
from matchwork.train.stages import stage_cache

QUERY_STEPS, DOCUMENT_STEPS, WHOLE_STEPS = 4, 12, 6  # two epochs each
STEPS = ["queries"] * QUERY_STEPS + ["documents"] * DOCUMENT_STEPS + ["whole"] * WHOLE_STEPS
Learn = Callable[..., TrainResult]


@pytest.fixture
def dev(questions, words) -> TrainingSet:
    return TrainingSet.from_split(questions["dev"], words)


@pytest.fixture
def learn(samples, dev, config) -> Learn:
    def run(model: StagedModel, folder: Path | None = None, **changes: Any) -> TrainResult:
        arguments = {"samples": samples, "dev_samples": dev, "config": config(), **changes}
        return fit(model, **arguments, folder=folder)

    return run


def weights(model: StagedModel, *names: str) -> dict[str, bytes]:
    return {
        name: tensor.numpy().tobytes()
        for name, tensor in model.state_dict().items()
        if not names or name.split(".")[0] in names
    }


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_the_stages_that_its_settings_name(tiny_model, name):
    model = tiny_model(name)
    stages = {stage.name: type(stage.config) for stage in model.stages()}
    assert stages == dict(model.config.stage_configs)
    assert (len(stages) > 1) == name.startswith("iam") == bool(stages)


def test_one_after_the_other(words, learn):
    model = staged(words)
    found = learn(model)
    assert model.steps == STEPS
    assert [stage.name for stage in found.stages] == ["queries", "documents"]
    assert len({stage.hash for stage in found.stages}) == 2
    for stage in found.stages:
        assert not stage.reused and len(stage.history) == 2
        losses = [record["dev_loss"] for record in stage.history]
        assert stage.best_loss == min(losses) < losses[0]
        assert stage.history[0]["dev_answer"] == 42
    assert found.stages[0].to_dict()["epochs"] == 2 and "history" not in found.stages[0].to_dict()


def test_the_whole_begins_with_what_was_learnt(words, learn):
    model = staged(words)
    seen = []
    copy = model.after_stages
    model.after_stages = lambda: (copy(), seen.append(weights(model, "queries", "start")))
    learn(model)
    begun = seen[0]
    assert begun["start.weight"] == begun["queries.weight"] == weights(model)["queries.weight"]
    assert begun["queries.weight"] != weights(staged(words))["queries.weight"]


def test_a_stage_trains_its_module_and_nothing_else(words, learn):
    model = staged(words).eval()
    model.out.requires_grad_(False)
    flags = {name: parameter.requires_grad for name, parameter in model.named_parameters()}
    before, told = weights(model), []

    class Watch(TrainObserver):
        def begin_stage(self, name: str, number: int, total: int, reused: bool) -> None:
            told.append((name, number, total, reused))

        def begin_model(self) -> None:
            after = weights(model)
            changed = {name for name in after if after[name] != before[name]}
            assert {name.split(".")[0] for name in changed} == {"queries", "documents", "start"}
            assert flags == {name: p.requires_grad for name, p in model.named_parameters()}
            assert not any(part.training for part in model.modules())
            told.append("end")

    learn(model, observer=Watch())
    assert told == [("queries", 1, 2, False), ("documents", 2, 2, False), "end"]


def test_the_best_epoch_is_kept_and_patience_ends_a_stage(words, learn):
    model = staged(words)
    settings = {"queries": GuessConfig(max_epochs=50, patience=2, learning_rate=3.0)}
    stage = learn(model, stages=settings).stages[0]
    losses = [record["dev_loss"] for record in stage.history]
    assert stage.best_epoch == losses.index(min(losses)) + 1 == len(losses) - 2 < 48
    assert [bool(record["best"]) for record in stage.history[-3:]] == [True, False, False]
    shorter = staged(words)
    ending = {"queries": replace(settings["queries"], max_epochs=stage.best_epoch)}
    learn(shorter, stages=ending)
    assert weights(shorter, "queries") == weights(model, "queries")


def test_the_rate_of_a_stage_is_halved_with_its_epochs(words, learn, monkeypatch):
    rates, plain = [], torch.optim.SGD.step

    def step(optimizer, closure=None):
        rates.append(optimizer.param_groups[0]["lr"])
        return plain(optimizer, closure)

    monkeypatch.setattr(torch.optim.SGD, "step", step)
    stepped = GuessConfig(optimizer="sgd", learning_rate=0.4, max_epochs=5, halve_every=2)
    learn(staged(words), stages={"queries": stepped})
    each_epoch = QUERY_STEPS // 2
    assert rates[::each_epoch] == [0.4, 0.4, 0.2, 0.2, 0.1] and len(rates) == 5 * each_epoch


def test_without_dev_the_last_epoch_counts(words, learn):
    model = staged(words)
    stage = learn(model, dev_samples=None).stages[0]
    assert stage.best_epoch == 2 and stage.best_loss is None
    assert "dev_loss" not in stage.history[0]


def test_finish_sees_the_best_weights(words, learn):
    model = staged(words)
    learn(model)
    for name, layer in model.finished:
        assert layer.numpy().tobytes() == weights(model)[f"{name}.weight"]


def test_progress_counts_batches_of_an_epoch(words, learn):
    moves, epochs = [], []

    class Watch(TrainObserver):
        def stage_batch(self, done: int, total: int) -> None:
            moves.append((done, total))

        def stage_epoch(self, name: str, record: Any) -> None:
            epochs.append(record["epoch"])

    learn(staged(words), observer=Watch())
    assert moves[:QUERY_STEPS] == [(1, 2), (2, 2)] * 2 and len(moves) == 16
    assert epochs == [1, 2, 1, 2]


def test_files_of_a_run(words, learn, tmp_path):
    learn(staged(words), tmp_path)
    place = tmp_path / "stages" / "queries"
    files = {path.name for path in place.iterdir() if path.is_file()}
    assert files == {"stage.safetensors", "history.csv"}
    header, *lines = (place / "history.csv").read_text().splitlines()
    assert header == "epoch,loss,dev_loss,dev_answer,best,seconds" and len(lines) == 2
    assert list(place.glob("logs/version_0/metrics.csv"))


def test_a_finished_stage_is_used_by_another_matcher(words, learn, tmp_path):
    """Bit for bit as if it had been trained again."""
    plan = {"stage_cache": tmp_path / "cache"}
    first = learn(staged(words), **plan)
    reusing, fresh = staged(words, width=9), staged(words, width=9)
    again = learn(reusing, tmp_path / "run", **plan)
    whole = learn(fresh)
    assert set(reusing.steps) == {"whole"} and fresh.steps == STEPS
    assert weights(reusing) == weights(fresh) and again.history[-1]["loss"]
    assert [stage.hash for stage in again.stages] == [stage.hash for stage in first.stages]
    assert all(stage.reused for stage in again.stages)
    assert [s.best_loss for s in again.stages] == [s.best_loss for s in whole.stages]
    assert (tmp_path / "run/stages/queries/stage.safetensors").is_file()


def other_words(samples: TrainingSet) -> TrainingSet:
    table = samples.queries
    return replace(samples, queries=TokenTable(table.flat[::-1].copy(), table.starts))


def move_vectors(model: StagedModel) -> None:
    next(iter(model.encoder.state_dict().values()))[3, 0] += 1


def scale(model: StagedModel) -> None:
    model.scale = 2.0


def start_elsewhere(model: StagedModel) -> None:
    model.queries.bias.data[0] += 1


@pytest.mark.parametrize(
    ("change", "reused"),
    [
        ({}, [True, True]),
        ({"labels": True}, [True, True]),
        ({"settings": {"learning_rate": 0.5, "checkpoint_seconds": 1.0}}, [True, True]),
        ({"settings": {"precision": "bf16-mixed"}}, [False, False]),
        ({"seed": 1}, [False, False]),
        ({"texts": True}, [False, False]),
        ({"dev_texts": True}, [False, False]),
        ({"dev_texts": None}, [False, False]),
        ({"model": move_vectors}, [False, False]),
        ({"model": scale}, [False, False]),
        ({"model": start_elsewhere}, [False, False]),
        ({"stage": {"queries": GuessConfig(noise=0.2)}}, [False, False]),
        ({"stage": {"documents": GuessConfig(max_epochs=1)}}, [True, False]),
    ],
)
def test_what_a_stage_depends_on(words, samples, dev, config, learn, tmp_path, change, reused):
    cache = tmp_path / "cache"
    learn(staged(words), stage_cache=cache)
    model = staged(words)
    change.get("model", lambda model: None)(model)
    arguments: dict[str, Any] = {"seed": change.get("seed", 0)}
    if "texts" in change:
        arguments["samples"] = other_words(samples)
    if "labels" in change:
        arguments["samples"] = replace(samples, labels=1 - samples.labels)
    if "dev_texts" in change:
        arguments["dev_samples"] = other_words(dev) if change["dev_texts"] else None
    plan = {"stages": change.get("stage", {}), "stage_cache": cache}
    found = learn(model, config=config(**change.get("settings", {})), **plan, **arguments)
    assert [stage.reused for stage in found.stages] == reused


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"abc")])
def test_a_spoilt_cache_costs_time_only(words, learn, tmp_path, spoil):
    plan = {"stage_cache": tmp_path}
    learn(staged(words), **plan)
    for path in tmp_path.iterdir():
        spoil(path)
    model = staged(words)
    assert not any(stage.reused for stage in learn(model, **plan).stages)
    assert model.steps == STEPS and len(list(tmp_path.iterdir())) == 2
    assert all(stage.reused for stage in learn(staged(words), **plan).stages)


def test_where_the_cache_lies(monkeypatch, tmp_path):
    assert stage_cache() == Path(os.environ["MATCHWORK_STAGE_CACHE"])
    monkeypatch.delenv("MATCHWORK_STAGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert stage_cache() == tmp_path / "matchwork/stages"


def test_a_cache_that_cannot_be_written_costs_nothing(words, learn, tmp_path):
    (tmp_path / "cache").write_text("not a folder")
    found = learn(staged(words), stage_cache=tmp_path / "cache")
    assert not any(stage.reused for stage in found.stages)


@pytest.mark.parametrize("precision", ["64", "bf16-mixed"])
def test_precision_is_that_of_the_whole(words, learn, config, precision):
    model, dtypes = staged(words, "queries", 1), set()

    def note(loss: torch.Tensor) -> torch.Tensor:
        dtypes.add(model.queries(torch.zeros_like(model.queries.weight)).dtype)
        return loss

    model.how = note
    found = learn(model, config=config(precision=precision))
    assert dtypes == {torch.float64 if precision == "64" else torch.bfloat16}
    assert {p.dtype for p in model.parameters()} == {torch.float32} and len(found.stages) == 2


def test_training_a_matcher_takes_settings_of_stages(words, questions, tmp_path):
    def learn(width: int, **settings: Any) -> list[StageResult]:
        matcher = Matcher(words, staged(words, width=width), name="staged")
        arguments = {"max_epochs": 1, "accelerator": "cpu", "stage_cache": tmp_path}
        return train(matcher, questions, **arguments, **settings).stages

    longer = learn(4, stages={"queries": {"max_epochs": 3}})
    assert [len(stage.history) for stage in longer] == [3, 2]
    assert longer[0].best_loss is not None
    assert [stage.reused for stage in learn(4)] == [False, False]
    assert [stage.reused for stage in learn(5)] == [True, True]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"query": {}}, "here: no stage named 'query'; did you mean 'queries'"),
        ({"queries": 3}, "here: queries must be a table of settings, got 3"),
        ({"queries": {"max_epoch": 3}}, "here: queries: unknown key 'max_epoch'; did you mean 'ma"),
        ({"queries": {"noise": "much"}}, "here: queries: noise = 'much'"),
        ({"queries": {"batch_size": 0}}, "here: queries: batch_size must be at least 1, got 0"),
    ],
)
def test_wrong_settings(words, tables, message):
    with pytest.raises(ConfigError, match=message):
        stage_configs(staged(words).config, tables, "here")


def test_settings_of_a_model_without_stages(matcher):
    with pytest.raises(ConfigError, match="stages: this model has no stages, so leave 'queries'"):
        stage_configs(matcher("bag").model.config, {"queries": {}}, "stages")


def test_settings_for_a_stage_that_does_not_run(words, learn):
    with pytest.raises(ConfigError, match="no stage named 'energy'"):
        learn(staged(words), stages={"energy": GuessConfig()})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_epochs": 0}, "max_epochs must be at least 1, got 0"),
        ({"patience": 0}, "patience must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive, got 0.0"),
        ({"weight_decay": -1.0}, "weight_decay must not be negative, got -1.0"),
        ({"clip_norm": 0.0}, "clip_norm must be positive, got 0.0"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(ConfigError, match=message):
        StageConfig(**settings)

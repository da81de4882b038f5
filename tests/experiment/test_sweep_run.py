"""What a sweep leaves on disk, after success, failure and interruption."""

import json

import pytest

from matchwork.errors import ConfigError, DataError
from matchwork.experiment import (
    Observer,
    draw_sweep,
    load_recipe,
    load_sweep,
    run_recipe,
    run_sweep,
)
from matchwork.experiment.sweep.result import missing_lines, stale_combinations, sweep_table

SWEEP = """
base = "tiny.toml"
[sweep]
"vectors.dim" = [2, 4]
"model.name" = ["bag", "knrm"]
[set]
"train.max_epochs" = 1
"train.dev_loss_every" = 1
[[chart]]
measure = "AP"
title = "Width"
[[chart]]
curve = "dev_loss"
title = "Loss"
where = {"vectors.dim" = 4}
"""


class Listener(Observer):
    def __init__(self):
        self.told, self.seeds, self.failures = [], [], []

    def begin(self, num_experiments, num_seeds, num_done):
        self.told.append((num_seeds, num_done))

    def seed(self, label, outcome):
        self.seeds.append((label, outcome.seed))

    def failed(self, label, message):
        self.failures.append((label, message))


@pytest.fixture
def sweep(write_recipe, tmp_path):
    write_recipe()
    path = tmp_path / "widths.toml"
    path.write_text(SWEEP)
    return load_sweep(path)


def run(sweep, folder, **options):
    listener = Listener()
    place, result = run_sweep(
        sweep, folder / "runs", results=folder / "results", observer=listener, **options
    )
    return place, result, listener


def test_every_combination_has_its_result_and_is_drawn(sweep, write_recipe, tmp_path):
    place, result, listener = run(sweep, tmp_path)
    assert place == tmp_path / "results/sweeps/widths.json"
    assert json.loads(place.read_text()) == result
    assert listener.told == [(8, 0)] and len(listener.seeds) == 8 and result["missing"] == []
    assert stale_combinations(sweep, result) == {} and len(result["combinations"]) == 4
    first = result["combinations"][0]
    assert first["values"] == {"vectors.dim": 2, "model.name": "bag"} and "per_query" not in first
    assert first["versions"] and first["hardware"] and "commit" in first
    settings = ["vectors.dim=2", "train.max_epochs=1"]
    alone = run_recipe(load_recipe(write_recipe(), settings), tmp_path / "alone")
    for measure, values in alone["measures"].items():
        assert values["mean"] == first["measures"][measure]["mean"]
    picture = place.with_suffix(".svg").read_text()
    assert picture.startswith("<svg") and all(
        word in picture for word in ("Width", "Loss", "bag", "knrm", "loss on dev", "batches")
    )
    assert "Every combination" in place.with_suffix(".html").read_text()
    table = sweep_table(result)
    assert table.header == ["combination", "dev", "AP", "RR", "P@1"]
    assert [row[0] for row in table.rows] == [one.label for one in sweep.combinations]


def test_what_is_finished_is_not_trained_again(sweep, tmp_path):
    wanted = sweep.only(["model.name=bag"])
    place, part, _ = run(sweep, tmp_path, wanted=wanted)
    assert len(part["combinations"]) == 2
    assert missing_lines(part) == ["2 of 4 combinations not trained yet"]
    with pytest.raises(ConfigError, match="already holds this run; continue it with --resume"):
        run(sweep, tmp_path)
    # on another machine: no folders of runs, only the result
    other = tmp_path / "other"
    copy = other / "results/sweeps/widths.json"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(place.read_bytes())
    _, whole, listener = run(sweep, other, resume=True)
    assert listener.told == [(4, 2)] and {label[-4:] for label, _ in listener.seeds} == {"knrm"}
    assert whole["missing"] == []
    # on the same machine: no result, only the folders of runs
    place.unlink()
    _, again, listener = run(sweep, tmp_path, wanted=wanted, resume=True)
    assert listener.told == [(0, 2)]
    assert again["combinations"] == part["combinations"]


def test_one_failure_does_not_lose_the_others(sweep, tmp_path):
    broken = sweep.combinations[1]
    checkpoint = tmp_path / "runs" / broken.folder / "seed-5/training/last.ckpt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("of another run")
    _, result, listener = run(sweep, tmp_path)
    ((label, message),) = listener.failures
    assert label == broken.label and "already holds a training run" in message
    (missing,) = result["missing"]
    assert missing == {"values": dict(broken.values), "error": message}
    assert missing_lines(result) == [f"{label}: {message}"]
    assert len(result["combinations"]) == 3 and len(listener.seeds) == 7
    checkpoint.unlink()
    _, whole, listener = run(sweep, tmp_path, resume=True)
    assert listener.told == [(1, 3)] and whole["missing"] == []


def test_seeds_of_several_combinations_at_once(sweep, tmp_path):
    (tmp_path / "b").mkdir()
    wanted = sweep.only(["vectors.dim=2"])
    _, in_turn, _ = run(sweep, tmp_path / "a", wanted=wanted)
    _, at_once, listener = run(sweep, tmp_path / "b", wanted=wanted, jobs=2)
    assert len(listener.seeds) == 4
    for one, other in zip(in_turn["combinations"], at_once["combinations"], strict=True):
        assert one["measures"] == other["measures"] and one["values"] == other["values"]


def test_drawing_wants_the_result_of_a_sweep(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"measures": {}}')
    with pytest.raises(DataError, match=r"x.json: not the result of a sweep"):
        draw_sweep(path)

"""From a recipe to matchers, runs and a result; never twice the same work, never two in one."""

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from matchwork.data import read_run, toy
from matchwork.errors import ConfigError, DataError, MatchworkError
from matchwork.evaluate import CLASSIFICATION, evaluate
from matchwork.experiment import Observer, load_recipe, prepare, run_recipe
from matchwork.experiment.results import read_result
from matchwork.matcher import Matcher
from matchwork.train.module import TrainingModule

VARYING = ("wall_seconds", "date", "per_seed")


class Listener(Observer):
    def __init__(self):
        self.stages, self.epochs = [], []

    def stage(self, text):
        self.stages.append(text)

    def epoch(self, seed, record):
        self.epochs.append((seed, record["epoch"]))


def test_everything_is_written_and_told(write_recipe, tmp_path):
    recipe, out, listener = load_recipe(write_recipe()), tmp_path / "out", Listener()
    result = run_recipe(recipe, out, results=tmp_path / "results", observer=listener)

    assert read_result(out / "result.json") == result
    assert read_result(tmp_path / "results" / "toy" / "tiny.json") == result
    assert {"dataset", "model", "protocol", "seeds", "measures"} <= result.keys()
    assert {"settings", "commit", "hardware", "wall_seconds", "versions"} <= result.keys()
    assert (result["dataset"], result["model"], result["protocol"]) == ("toy", "bag", "raw")
    assert result["seeds"] == [3, 5] and result["settings"] == recipe.to_dict()
    assert set(result["measures"]) == {"AP", "RR", "P@1"}
    assert set(result["systems"]) == {"BM25", "BM25 + bag"}
    assert result["versions"].keys() >= {"matchwork", "python", "torch", "numpy"}
    assert result["hardware"]["cores"] >= 1
    assert result["measures"]["AP"]["paper"] == 0.9 and result["measures"]["RR"]["paper"] is None

    by_seed = [seed["measures"]["bag"]["RR"] for seed in result["per_seed"]]
    rr = result["measures"]["RR"]
    assert rr["mean"] == pytest.approx(np.mean(by_seed))
    assert rr["std"] == pytest.approx(np.std(by_seed, ddof=1))
    assert rr["ci"][0] <= rr["mean"] <= rr["ci"][1]
    assert np.mean(list(result["per_query"]["RR"].values())) == pytest.approx(rr["mean"], abs=1e-5)
    assert result["reliability"].keys() == {"calibration_error", "brier"}
    assert 0 < result["reliability"]["brier"] < 1

    assert listener.epochs == [(seed, epoch) for seed in (3, 5) for epoch in (1, 2, 3)]
    test = toy()["test"]
    for seed, value in zip((3, 5), by_seed, strict=True):
        folder = out / f"seed-{seed}"
        run = read_run(folder / "test.run")
        assert evaluate(run, test.qrels, ["RR"])["RR"] == value
        matcher = Matcher.load(folder / "matcher")
        assert matcher.calibration is not None
        scores = matcher.score([(pair.query, pair.document) for pair in test.pairs()])
        kept = [run[pair.query_id][pair.document_id] for pair in test.pairs()]
        np.testing.assert_allclose(scores, kept, rtol=1e-6)
        card = (folder / "matcher" / "README.md").read_text()
        assert f"seed {seed}" in card and "| BM25 |" in card


class Cut(Listener):
    """Ends the run when a certain stage begins."""

    def __init__(self, where):
        super().__init__()
        self.where = where

    def stage(self, text):
        super().stage(text)
        if text.startswith(self.where):
            raise KeyboardInterrupt


def test_what_is_finished_is_not_trained_again(write_recipe, tmp_path):
    recipe, out = load_recipe(write_recipe()), tmp_path / "out"
    whole = run_recipe(recipe, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run_recipe(recipe, out, observer=Cut("measuring seed 5"))
    weights = (out / "seed-3" / "matcher" / "model.safetensors").stat().st_mtime_ns
    listener = Listener()
    again = run_recipe(recipe, out, resume=True, observer=listener)
    assert "training seed 5 (2 of 2)" in listener.stages
    assert "training seed 3 (1 of 2)" not in listener.stages and not listener.epochs
    assert (out / "seed-3" / "matcher" / "model.safetensors").stat().st_mtime_ns == weights
    for key in whole.keys() - set(VARYING):
        assert again[key] == whole[key], key
    assert [s["measures"] for s in again["per_seed"]] == [s["measures"] for s in whole["per_seed"]]


def test_checkpoints_of_finished_seeds_do_not_fill_the_disk(write_recipe, tmp_path):
    recipe, out = load_recipe(write_recipe()), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run_recipe(recipe, out, observer=Cut("measuring seed 5"))
    kept = {path.relative_to(out).as_posix() for path in out.rglob("training/*.*")}
    assert {"seed-5/training/last.ckpt", "seed-5/training/best.safetensors"} <= kept
    assert {path for path in kept if "seed-3" in path} == {"seed-3/training/history.csv"}


def test_one_folder_one_run(write_recipe, tmp_path):
    recipe, out = (
        load_recipe(write_recipe(), ["run.seeds=[1]", "train.max_epochs=1"]),
        tmp_path / "o",
    )
    run_recipe(recipe, out)
    with pytest.raises(ConfigError, match=r"already holds this run; continue it with --resume"):
        run_recipe(recipe, out)
    other = load_recipe(write_recipe(), ["run.seeds=[1]", "train.max_epochs=2"])
    for resume in (False, True):
        with pytest.raises(
            ConfigError,
            match=r"holds a run of other settings \(train.max_epochs\); choose",
        ):
            run_recipe(other, out, resume=resume)


def test_a_run_that_never_began_blocks_nothing(write_recipe, tmp_path):
    """The data was not there: after mending the recipe, the same folder serves."""
    folder = tmp_path / "mine"
    folder.mkdir()
    short = ["run.seeds=[1]", "train.max_epochs=1"]
    wrong = load_recipe(write_recipe(), [*short, f"data.name={folder}"])
    with pytest.raises(DataError, match="no data recognised in the folder"):
        run_recipe(wrong, tmp_path / "out")
    result = run_recipe(load_recipe(write_recipe(), short), tmp_path / "out")
    assert result["dataset"] == "toy"


def test_an_unwritable_folder_is_found_out_before_work(write_recipe, tmp_path):
    (tmp_path / "out").write_text("in the way")
    listener = Listener()
    with pytest.raises(MatchworkError, match="cannot write"):
        run_recipe(load_recipe(write_recipe()), tmp_path / "out", observer=listener)
    assert listener.stages == []


def test_pair_files_of_ones_own(write_recipe, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, split in toy().splits.items():
        rows = [f"{pair.query}\t{pair.document}\t{pair.label}" for pair in split.pairs()]
        (folder / f"{name}.tsv").write_text("\n".join(["query\tdocument\tlabel", *rows, ""]))
    settings = [f"data.name={folder}", "run.seeds=[3]"]
    result = run_recipe(
        load_recipe(write_recipe(), settings), tmp_path / "out", results=tmp_path / "results"
    )
    assert result["dataset"] == "mine" and (tmp_path / "results/mine/tiny.json").exists()
    named = run_recipe(load_recipe(write_recipe(), ["run.seeds=[3]"]), tmp_path / "toy")
    assert result["systems"]["BM25"]["AP"]["mean"] == named["systems"]["BM25"]["AP"]["mean"]


@pytest.fixture
def two_classes(monkeypatch):
    """The toy questions as a classification, the way a folder may turn out once it is read."""
    data = replace(toy(), task="classification", measures=CLASSIFICATION)
    monkeypatch.setattr(prepare, "load", lambda *given, **options: data)


def test_classification(write_recipe, tmp_path, two_classes):
    settings = [f"data.name={tmp_path}", "data.measures=[]", "run.seeds=[3]"]
    recipe = load_recipe(write_recipe(), [*settings, "train.dev_measure=macro-F1"])
    result = run_recipe(recipe, tmp_path / "out")
    assert set(result["measures"]) == set(CLASSIFICATION) and set(result["systems"]) == {"BM25"}
    assert result["measures"]["Accuracy"]["mean"] >= 0.5
    assert result["per_seed"][0]["dev"] is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["data.measures=[]"], "train.dev_measure = 'RR' does not measure classification"),
        (["train.dev_measure=F1"], "data.measures = 'AP' does not measure classification"),
    ],
)
def test_measures_that_do_not_fit_the_data(write_recipe, tmp_path, two_classes, settings, message):
    recipe = load_recipe(write_recipe(), [f"data.name={tmp_path}", *settings])
    with pytest.raises(ConfigError, match=message):
        run_recipe(recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "seed-3").exists()


@pytest.mark.parametrize("source", ["random", "corpus", "file"])
@pytest.mark.parametrize("model", ["iasm-static", "iasm-dynamic", "knrm", "bag"])
def test_any_model_on_any_vectors(write_recipe, tmp_path, source, model):
    (tmp_path / "v.txt").write_text("the 1 0 2\nwho 0 1 1\nwrote 2 2 0\n")
    settings = [f"model.name={model}", f"vectors.source={source}", "vectors.trainable=true"]
    settings += ["run.seeds=[1]", "train.max_epochs=1", "vectors.dim=3"]
    if source == "file":
        settings.append(f"vectors.file={tmp_path / 'v.txt'}")
    result = run_recipe(load_recipe(write_recipe(), settings), tmp_path / "out")
    assert 0 < result["measures"]["RR"]["mean"] <= 1


@pytest.mark.shared_data
@pytest.mark.slow
def test_the_wikiqa_recipe(tmp_path):
    path = Path(__file__).parents[2] / "recipes" / "wikiqa" / "iasm-dynamic.toml"
    recipe = load_recipe(path, ["train.max_epochs=1", "run.seeds=[1]"])
    result = run_recipe(recipe, tmp_path / "out", results=tmp_path / "results")
    assert (result["dataset"], result["protocol"]) == ("wikiqa", "has-positive")
    assert result["num_queries"] == 243 and result["num_dropped"] == 390
    assert result["measures"]["AP"]["mean"] > 0.4
    assert (tmp_path / "results" / "wikiqa" / "iasm-dynamic.json").exists()


def test_a_finished_seed_leaves_no_optimiser_behind(write_recipe, tmp_path):
    gc.collect()
    gc.disable()
    try:
        run_recipe(load_recipe(write_recipe(), ["train.max_epochs=1"]), tmp_path / "out")
        assert not any(type(each) is TrainingModule for each in gc.get_objects())
    finally:
        gc.enable()

"""`train(matcher, data)`: better than untrained, calibrated, and ready to be saved."""

import numpy as np
import pytest

import matchwork as mw
from matchwork.data import Dataset
from matchwork.errors import ConfigError
from matchwork.evaluate.measured_split import MeasuredSplit
from matchwork.matcher import Matcher
from matchwork.train import TrainConfig, TrainingData, TrainObserver, train
from matchwork.train.api import train_config

SETTINGS = {"max_epochs": 15, "learning_rate": 0.05, "accelerator": "cpu", "batch_size": 6}


def rr(matcher, questions, split):
    measured = MeasuredSplit(questions[split], "raw", ("RR",))
    return measured.evaluate(measured.run(matcher))["RR"]


@pytest.mark.parametrize("name", ["bag", "knrm", "iasm-dynamic"])
def test_training_lifts_the_ranking(matcher, questions, name, tmp_path):
    made = matcher(name, dim=16)
    before = rr(made, questions, "train")
    result = train(made, questions, seed=1, **{**SETTINGS, "negatives": "own", "num_negatives": 3})
    assert rr(made, questions, "train") > max(0.9, before + 0.1)
    assert result.history[-1]["loss"] < result.history[0]["loss"]
    assert rr(made, questions, "dev") == result.best_value == max(r["RR"] for r in result.history)
    made.save(tmp_path / "matcher")
    again = Matcher.load(tmp_path / "matcher")
    pairs = [(query, text) for query in ("who wrote it", "") for text in ("he did", "")]
    np.testing.assert_array_equal(again.score(pairs), made.score(pairs))
    assert again.calibration == made.calibration


def test_calibration_is_fitted_on_dev(matcher, questions):
    made = matcher()
    train(made, questions, **SETTINGS)
    assert made.calibration is not None and made.calibration.slope > 0
    dev = questions["dev"]
    probabilities = made.probability([(pair.query, pair.document) for pair in dev.pairs()])
    # a quarter of the candidates is relevant, and that is what the probabilities sum to
    assert probabilities.mean() == pytest.approx(0.25, abs=0.06)


def test_without_dev_there_is_no_calibration(matcher, questions):
    made = matcher()
    result = train(made, Dataset("toy", {"train": questions["train"]}), **SETTINGS)
    assert made.calibration is None and result.best_value is None and result.best_epoch == 15


def test_settings_start_from_the_models_own(matcher, questions, tmp_path):
    """The bag trains with in-batch negatives unless told otherwise."""
    with pytest.raises(ConfigError, match="in-batch negatives need a batch_size of at least 2"):
        train(matcher("bag"), questions, batch_size=1)
    with pytest.raises(
        ConfigError, match="training settings: unknown key 'epochs'; did you mean 'max_epochs'"
    ):
        train(matcher("bag"), questions, epochs=3)


@pytest.mark.parametrize("given", [None, 2, 9])
def test_a_model_that_reads_short_queries_and_weighs_phrases(matcher, questions, given):
    made = matcher("hcan-rm", query_length=4, phrase_weights=True, filters=4)
    made = Matcher(made.tokenizer, made.model, max_query_length=given)
    assert made.max_query_length == min(given or 4, 4)
    assert len(made.tokens("one two three four five six", "")[0]) == made.max_query_length
    train(made, questions, max_epochs=1, accelerator="cpu")
    texts = questions["train"].texts
    rare, common = (made.tokenizer.encode([word])[0][0] for word in ("hamlet", "the"))
    assert sum("hamlet" in text for text in texts) < sum(" the " in text for text in texts)
    weights = made.output("the hamlet", "a hamlet").evidence["phrase_weight_0"].values[0]
    assert rare != common and weights[0] < weights[1]


def test_the_result_says_what_happened(matcher, questions, tmp_path):
    made, lines = matcher(), []
    made = Matcher(made.tokenizer, made.model, max_document_length=3)

    class Observer(TrainObserver):
        def epoch(self, record):
            lines.append(record["epoch"])

        def calibrate(self):
            lines.append("calibrate")

    config = TrainConfig(loss="softmax", negatives="in-batch", accelerator="cpu", max_epochs=2)
    result = train(made, questions, config=config, folder=tmp_path / "run", observer=Observer())
    assert lines == [1, 2, "calibrate"]
    assert result.calibration == made.calibration is not None
    assert result.dev_run == MeasuredSplit(questions["dev"], "raw", ("RR",)).run(made)
    assert result.seconds >= sum(record["seconds"] for record in result.history) > 0
    assert 0 < result.truncation.texts <= result.truncation.tokens
    value = f"{result.best_value:.4f}"
    assert str(result).splitlines() == [
        f"2 epochs in {result.seconds:.1f} s; best: epoch {result.best_epoch}, dev RR {value}",
        f"truncation: {result.truncation}",
        "probabilities are calibrated on dev",
        f"checkpoint: {tmp_path / 'run'}",
    ]


def test_tokenised_pairs_are_trained_alike(matcher, questions, samples):
    one, two = matcher("knrm"), matcher("knrm")
    config = train_config(one.model, {"max_epochs": 2, "accelerator": "cpu"})
    whole = train(one, questions, config=config)
    dev = MeasuredSplit(questions["dev"], questions.protocol, ("RR",))
    parts = train(two, TrainingData(samples, dev), config=config)
    assert parts.dev_run == whole.dev_run and parts.calibration == whole.calibration
    alone = train(matcher("knrm"), TrainingData(samples), config=config)
    assert alone.dev_run is None and alone.calibration is None and alone.folder is None


def test_either_a_config_or_settings(matcher, questions):
    with pytest.raises(ConfigError, match="give either config or settings, got both: patience"):
        train(matcher(), questions, config=TrainConfig(), patience=3)


def test_the_root_has_the_function_and_its_settings():
    assert mw.train is not None and mw.TrainConfig is TrainConfig

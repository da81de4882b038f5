"""Recipes that learn from a part of the data, watch the loss on dev, or move learning rates."""

import json

import pytest

from matchwork.errors import ConfigError
from matchwork.experiment import load_recipe, run_recipe
from matchwork.experiment.prepare import prepare
from matchwork.matcher import Matcher
from matchwork.train import TrainingData, train

SHORT = ["run.seeds=[3]", "train.max_epochs=2"]


def test_the_loss_on_dev_is_in_outcome_and_result(write_recipe, tmp_path):
    watched = load_recipe(write_recipe(), [*SHORT, "train.dev_loss_every=2"])
    result = run_recipe(watched, tmp_path / "watched")
    (seed,) = result["per_seed"]
    assert [step for step, _ in seed["dev_loss"]] == [2, 4, 6]
    assert all(loss > 0 for _, loss in seed["dev_loss"])
    outcome = json.loads((tmp_path / "watched" / "seed-3" / "outcome.json").read_text())
    assert outcome["dev_loss"] == seed["dev_loss"]
    again = run_recipe(watched, tmp_path / "watched", resume=True)
    assert again["per_seed"][0]["dev_loss"] == seed["dev_loss"]

    blind = run_recipe(load_recipe(write_recipe(), SHORT), tmp_path / "blind")
    assert "dev_loss" not in blind["per_seed"][0]
    assert "dev_loss" not in json.loads((tmp_path / "blind/seed-3/outcome.json").read_text())
    assert blind["measures"] == result["measures"]


def test_nothing_is_learnt_from_the_rest(write_recipe):
    whole = prepare(load_recipe(write_recipe()))
    half = prepare(load_recipe(write_recipe(), ["data.fraction=0.5", "also.x.depth=5"]))
    assert len(half.train.queries) == round(len(whole.train.queries) / 2)
    assert set(half.train.texts) < set(whole.train.texts)
    assert half.tokenizer.vocab_size < whole.tokenizer.vocab_size
    assert len(half.samples.queries) == len(half.train.queries)
    for name in ("dev", "test"):
        assert half.dataset[name] == whole.dataset[name]
    assert half.conditions["x"].dataset["train"] == half.train


@pytest.mark.parametrize(("part", "rest"), [("dev", "test"), ("test", "dev")])
def test_a_part_of_dev_is_chosen_on_and_one_of_test_reported(write_recipe, part, rest):
    key = f"{part}_fraction"
    whole = prepare(load_recipe(write_recipe()))
    half = prepare(load_recipe(write_recipe(), [f"data.{key}=0.5", "also.x.depth=5"]))
    given, kept = getattr(whole.main, part).split, getattr(half.main, part).split
    assert len(kept.queries) == round(len(given.queries) / 2)
    assert kept.queries.items() < given.queries.items()
    assert getattr(half.conditions["x"], part).split == kept
    assert getattr(half.main, rest).split == getattr(whole.main, rest).split
    assert half.train == whole.train
    assert set(getattr(half.main.baselines["BM25"], part)) == set(kept.queries)
    with pytest.raises(ConfigError, match=rf"{key} = 0\.01 leaves none of the 6 queries"):
        prepare(load_recipe(write_recipe(), [f"data.{key}=0.01"]))


@pytest.mark.parametrize("name", ["hcan", "hcan-rm"])
def test_a_model_reads_the_texts_that_it_learns_from(write_recipe, tmp_path, name):
    """With rare phrases weighed, and queries no longer than the model can read."""
    changes = [*SHORT, f"model.name={name}", "train.max_epochs=1", "train.batch_size=64"]
    changes += ["model.phrase_weights=true", "model.query_length=3", "model.filters=4"]
    made = prepare(load_recipe(write_recipe(), [*changes, "train.loss=cross-entropy"]))
    assert made.samples.queries.lengths.max() == 3
    matcher = made.matcher(seed=1)
    assert matcher.max_query_length == 3 and len(matcher.model.phrases.keys) == 0
    train(matcher, TrainingData(made.samples), config=made.recipe.train)
    known = len(matcher.model.phrases.keys)
    assert known > 0
    matcher.save(tmp_path / "matcher")
    opened = Matcher.load(tmp_path / "matcher")
    assert len(opened.model.phrases.keys) == known and opened.max_query_length == 3

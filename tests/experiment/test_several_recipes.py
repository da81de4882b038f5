"""Recipes that share a queue give what each gives alone, and read shared data once."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import active_children
from shutil import rmtree

import pytest
from killed_runs import PATIENCE, wait_for

from matchwork.errors import ConfigError
from matchwork.experiment import Observer, load_recipe, run_recipe, run_recipes
from matchwork.experiment.prepare import prepare
from matchwork.experiment.results import read_result


@pytest.fixture
def recipes(write_recipe):
    """Two that differ in their model alone, and one with other vectors."""
    tiny = write_recipe()
    changes = {
        "first": ("", ""),
        "second": ('name = "bag"', 'name = "knrm"'),
        "third": ("dim = 8", "dim = 6"),
    }
    for name, change in changes.items():
        tiny.with_name(f"{name}.toml").write_text(tiny.read_text().replace(*change))
    return [load_recipe(tiny.with_name(f"{name}.toml")) for name in changes]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_gives_what_it_gives_alone(recipes, tmp_path, jobs):
    found, errors = run_recipes(recipes, tmp_path / "out", results=tmp_path / "results", jobs=jobs)
    assert not errors and [one["recipe"] for one in found] == ["first", "second", "third"]
    for recipe, result in zip(recipes, found, strict=True):
        alone = run_recipe(recipe, tmp_path / "alone" / recipe.name)
        for key in ("measures", "systems", "per_query", "seeds", "settings", "paper"):
            assert result[key] == alone[key], (recipe.name, key)
        assert read_result(tmp_path / "results/toy" / f"{recipe.name}.json") == result
        assert read_result(tmp_path / "out/toy" / recipe.name / "result.json") == result


def test_what_is_finished_is_read(recipes, tmp_path):
    first, _ = run_recipes(recipes[:2], tmp_path)
    with pytest.raises(ConfigError, match="already holds this run"):
        run_recipes(recipes, tmp_path)
    whole, errors = run_recipes(recipes, tmp_path, resume=True)
    assert not errors and whole[:2] == first and len(whole) == 3


def test_two_of_one_name_are_refused(recipes, tmp_path):
    with pytest.raises(ConfigError, match="two recipes are both called toy/first"):
        run_recipes([recipes[0], recipes[0]], tmp_path)


def test_only_what_differs_is_read_again(recipes):
    first = prepare(recipes[0])
    second, third = (prepare(recipe, like=first) for recipe in recipes[1:])
    for prepared in (second, third):
        assert prepared.dataset is first.dataset
        assert prepared.main.baselines is first.main.baselines
    assert second.encoder is first.encoder and second.samples is first.samples
    assert third.encoder is not first.encoder and third.samples is not first.samples


def test_published_numbers_are_those_of_each_recipe(write_recipe):
    text = write_recipe().read_text()
    first = prepare(load_recipe(write_recipe(text)))
    other = load_recipe(write_recipe(text.replace("MAP = 0.9", "MAP = 0.7")))
    assert prepare(other, like=first).main.section.paper["AP"] == 0.7


def test_texts_are_cut_to_what_each_model_reads(write_recipe):
    text = write_recipe().read_text().replace('name = "bag"', 'name = "hcan"\nquery_length = 9')
    long = prepare(load_recipe(write_recipe(text)))
    assert long.samples.queries.lengths.max() > 3
    same = prepare(load_recipe(write_recipe(text)), like=long)
    assert same.samples is long.samples
    short = prepare(load_recipe(write_recipe(text.replace("= 9", "= 3"))), like=long)
    assert short.encoder is long.encoder and short.samples.queries.lengths.max() == 3


def test_a_result_of_other_settings_is_not_taken(recipes, tmp_path):
    """Not even where the seeds' folders were deleted to save space."""
    run_recipes(recipes[:1], tmp_path)
    folder = tmp_path / "toy/first"
    for seed in folder.glob("seed-*"):
        rmtree(seed)
    other = replace(recipes[2], name="first")
    (again,), errors = run_recipes([other], tmp_path, resume=True)
    assert not errors and again["settings"] == other.to_dict() != recipes[0].to_dict()


def test_only_one_data_set_is_in_memory(recipes, write_recipe, tmp_path, monkeypatch):
    held = []
    monkeypatch.setattr(
        "matchwork.experiment.runner.queue.prepare",
        lambda recipe, root, like, report: held.append(like) or prepare(recipe, root, like),
    )
    half = write_recipe(write_recipe().read_text().replace("[model]", "fraction = 0.5\n[model]"))
    run_recipes([*recipes[:2], load_recipe(half)], tmp_path)
    assert [like is None for like in held] == [True, False, True]


class Killer(Observer):
    """Kills the first process as the system does when memory runs out."""

    def __init__(self):
        self.failures, self.killed = [], False

    def epoch(self, seed, record):
        if not self.killed:
            self.killed = True
            os.kill(min(child.pid for child in active_children()), signal.SIGKILL)

    def failed(self, label, message):
        self.failures.append(label)
        assert "was killed" in message


def test_a_killed_process_fails_its_own_recipe_only(recipes, tmp_path):
    """Not those that wait for the same process, nor those that others train."""
    observer = Killer()
    first = replace(recipes[0], run=replace(recipes[0].run, seeds=(3,)))
    slow = replace(first, train=replace(first.train, max_epochs=300))
    others = [replace(recipe, run=replace(recipe.run, seeds=(3, 5))) for recipe in recipes[1:]]
    found, errors = run_recipes([slow, *others], tmp_path, jobs=2, observer=observer)
    assert list(errors) == observer.failures == ["toy/first"]
    assert [one["recipe"] for one in found] == ["second", "third"]


@contextmanager
def nobody_left(command):
    """A test that fails leaves no process of its command training."""
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)


@pytest.mark.parametrize("send", [os.killpg, os.kill])
def test_ctrl_c_begins_no_more_seeds(write_recipe, tmp_path, send):
    """As a terminal sends it, to the command and all its processes; or to the command alone."""
    slow = write_recipe().read_text().replace("max_epochs = 3", "max_epochs = 9999")
    names = ["a", "b", "c"]
    for name in names:
        (tmp_path / f"{name}.toml").write_text(slow)
    words = ["train", *(f"{name}.toml" for name in names), "--jobs", "2"]
    started = subprocess.Popen(
        [sys.executable, "-m", "matchwork", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    histories = tmp_path.glob
    with started as command, nobody_left(command):
        wait_for(lambda: len([*histories("runs/toy/a/seed-*/training/history.csv")]) == 2, command)
        send(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130 and "--resume continues" in said
    assert "Traceback" not in said
    assert not list(tmp_path.glob("runs/toy/[bc]/seed-*/training/history.csv"))


def test_other_data_is_read(write_recipe):
    first = prepare(load_recipe(write_recipe()))
    text = write_recipe().read_text()
    part = load_recipe(write_recipe(text.replace("[model]", "fraction = 0.5\n[model]")))
    parts = [one.dataset["train"].queries for one in (prepare(part, like=first), first)]
    assert len(parts[0]) < len(parts[1])

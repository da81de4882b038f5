"""Seeds trained at once give what they give one after another."""

import json
import os
import signal
from multiprocessing import active_children

import psutil
import pytest
from killed_runs import PATIENCE, kill, start, wait_for

from matchwork.errors import OutputError, TrainingError
from matchwork.experiment import Observer, load_recipe, run_recipe

SEEDS = (3, 5)


class Listener(Observer):
    def __init__(self) -> None:
        self.stages: list[str] = []
        self.epochs: list[tuple[int, float]] = []

    def stage(self, text: str) -> None:
        self.stages.append(text)

    def epoch(self, seed: int, record) -> None:
        self.epochs.append((seed, record["epoch"]))


def test_seeds_at_once_give_what_they_give_in_turn(write_recipe, tmp_path):
    recipe, listener = load_recipe(write_recipe()), Listener()
    in_turn = run_recipe(recipe, tmp_path / "in-turn")
    at_once = run_recipe(recipe, tmp_path / "at-once", jobs=4, observer=listener)
    for key in ("measures", "systems", "per_query", "seeds", "settings"):
        assert at_once[key] == in_turn[key], key
    assert sorted(listener.epochs) == [(seed, epoch) for seed in SEEDS for epoch in (1, 2, 3)]
    for number, seed in enumerate(SEEDS, start=1):
        assert f"training seed {seed} ({number} of 2)" in listener.stages
        name = f"seed-{seed}/matcher/model.safetensors"
        assert (tmp_path / "at-once" / name).read_bytes() == (
            tmp_path / "in-turn" / name
        ).read_bytes()


def test_an_error_of_one_seed_is_told_and_the_other_is_kept(write_recipe, tmp_path):
    recipe, out = load_recipe(write_recipe()), tmp_path / "out"
    (out / "seed-5" / "outcome.json").mkdir(parents=True)  # where the last file should be
    with pytest.raises(OutputError, match=r"seed-5/outcome\.json"):
        run_recipe(recipe, out, jobs=2)
    assert json.loads((out / "seed-3" / "outcome.json").read_text())["seed"] == 3
    assert not (out / "result.json").exists()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_is_told(write_recipe, tmp_path, sign):
    """The other seed is finished all the same."""
    text = write_recipe().read_text().replace("max_epochs = 3", "max_epochs = 60")
    recipe, out = load_recipe(write_recipe(text)), tmp_path / "out"
    with pytest.raises(TrainingError, match=r"was killed.*fewer --jobs, with --resume"):
        run_recipe(recipe, out, jobs=2, observer=Killer(sign))
    assert not (out / "result.json").exists()
    assert len(list(out.glob("seed-*/outcome.json"))) == 1
    result = run_recipe(recipe, out, jobs=2, resume=True)
    assert len(result["per_seed"]) == 2


def test_nobody_trains_on_for_a_command_that_was_killed(write_recipe, tmp_path):
    recipe = write_recipe(write_recipe().read_text().replace("max_epochs = 3", "max_epochs = 9999"))
    command = start(recipe, tmp_path / "out", "--jobs", "2")
    histories = (tmp_path / "out").glob
    wait_for(lambda: len(list(histories("seed-*/training/history.csv"))) == len(SEEDS), command)
    helpers = psutil.Process(command.pid).children(recursive=True)
    kill(command)
    gone, left = psutil.wait_procs(helpers, timeout=PATIENCE)
    assert len(gone) > len(SEEDS) and not left


class Killer(Listener):
    """Kills a process as the system does when memory runs out, once both seeds are under way."""

    def __init__(self, sign: signal.Signals) -> None:
        super().__init__()
        self.sign, self.killed = sign, False

    def epoch(self, seed: int, record) -> None:
        super().epoch(seed, record)
        if not self.killed and {seed for seed, _ in self.epochs} == set(SEEDS):
            self.killed = True
            os.kill(max(child.pid for child in active_children()), self.sign)

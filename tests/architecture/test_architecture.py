"""What must stay true of the repository as a whole."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from matchwork.experiment import load_recipe
from matchwork.experiment.recipe.files import read_recipe_file
from matchwork.experiment.results import results_page
from matchwork.experiment.sweep import load_sweep
from matchwork.experiment.sweep.result import stale_combinations
from matchwork.models import MODELS
from matchwork.version import VERSION

ROOT = Path(__file__).parents[2]
MODEL_FILES = sorted(
    path.stem
    for path in (ROOT / "matchwork/models").iterdir()
    if path.stem not in ("__init__", "__pycache__", "base", "stage")
)
SWEEPS = sorted((ROOT / "recipes/sweeps").glob("*.toml"))
RECIPES = sorted(set((ROOT / "recipes").rglob("*.toml")) - set(SWEEPS))
# Folders that exist on one person's machine only. A letter, digit or dot before the slash means
# that the path is relative or part of an address.
MACHINE_PATH = re.compile(
    r"(?<![\w.~*>}])/(?:work|tmp|root|home|Users|mnt|scratch)/[\w.-]|\b[A-Z]:[\\]Users"
)


def tracked_files() -> list[Path]:
    """Everything in the repository; skips where there is no git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_imports_point_down_the_flow():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Contracts: 2 kept, 0 broken" in done.stdout


@pytest.mark.parametrize("module", ["matchwork", "matchwork.data", "matchwork.evaluate"])
def test_importing_loads_no_torch(module):
    code = f"import sys, {module}; print(*{{'torch', 'lightning'}} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_there_are_models():
    assert len(MODEL_FILES) >= 3


@pytest.mark.parametrize("name", MODEL_FILES)
def test_every_model_is_registered_documented_checked_and_tried(name):
    module = f"matchwork.models.{name}"
    registered = [
        each for each in MODELS if MODELS[each].model.__module__ in (module, f"{module}.model")
    ]
    assert registered, f"nothing in {module} is decorated with @register"
    page = ROOT / f"docs/models/{name}.md"
    assert page.is_file() and all(f"`{each}`" in page.read_text() for each in registered)
    assert (ROOT / f"tests/parity/test_{name}.py").is_file()
    recipes = [read_recipe_file(path) for path in RECIPES]
    assert any(recipe["model"]["name"] in registered for recipe in recipes)


@pytest.mark.shared_data
def test_every_result_is_that_of_its_recipe_today():
    """A recipe that was changed after its run would claim numbers that it does not give."""
    made = sorted((ROOT / "results").glob("*/*.json"))
    of_recipes = [
        path for path in made if path.parent.name not in ("analyses", "faithfulness", "sweeps")
    ]
    assert of_recipes
    stale = {}
    for path in of_recipes:
        recipe = load_recipe(ROOT / "recipes" / path.parent.name / f"{path.stem}.toml")
        if changed := recipe.differences(json.loads(path.read_text())["settings"]):
            stale[f"{path.parent.name}/{path.stem}"] = changed
    assert not stale, f"run these again, or undo the change of their settings: {stale}"


def test_there_are_sweeps():
    assert len(SWEEPS) >= 9


@pytest.mark.shared_data
@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_sweep_is_right_and_its_result_that_of_today(path):
    sweep = load_sweep(path)
    made = ROOT / "results/sweeps" / f"{path.stem}.json"
    if made.is_file():
        result = json.loads(made.read_text())
        assert stale_combinations(sweep, result) == {}, "run it again with --resume"
        assert len(result["combinations"]) == len(sweep.combinations)
        assert result["missing"] == [] and made.with_suffix(".svg").is_file()


def test_every_result_of_a_sweep_has_its_sweep():
    names = {path.stem for path in SWEEPS}
    assert {path.stem for path in (ROOT / "results/sweeps").glob("*.json")} <= names


def test_the_results_page_is_fresh(tmp_path):
    page = ROOT / "results/README.md"
    if not page.is_file():
        pytest.skip("no results yet")
    for path in tracked_files():  # what a reader has trained here since does not count
        if path.is_relative_to(ROOT / "results") and path.suffix == ".json":
            copy = tmp_path / path.relative_to(ROOT / "results")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    assert page.read_text() == results_page(tmp_path), "run matchwork results --write"


def test_no_path_of_a_machine():
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in MACHINE_PATH.finditer(text)]
    assert found == []


@pytest.mark.parametrize("folder", ["work", "tmp", "root", "home", "Users"])
def test_what_a_path_of_a_machine_looks_like(folder):
    assert MACHINE_PATH.search(f'open("/{folder}/me/file.txt")')
    assert not MACHINE_PATH.search(f"see ./{folder}/me or https://example.org/{folder}/me")


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    assert re.search(rf"^## {re.escape(VERSION)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)
    cited = re.search(r"^version: *\"?([\w.]+)", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is None or cited[1] == VERSION

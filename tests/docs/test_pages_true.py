"""What the pages say is so: settings with their defaults, links, numbers."""

import json
import re
import tomllib
from dataclasses import MISSING, fields
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import yaml
from markdown_blocks import PAGES, ROOT, links, tables

import matchwork
from matchwork.data import CATALOGUE, READERS
from matchwork.experiment.recipe import SECTIONS
from matchwork.experiment.recipe.data import DataSection, RunSection
from matchwork.experiment.recipe.inputs import LinksSection, TextSection, VectorsSection
from matchwork.experiment.results import by_condition
from matchwork.models import MODELS, StageConfig
from matchwork.models.iam.stages import EnergyConfig, LanguageModelConfig
from matchwork.train import LOSSES, OPTIMIZERS, SAMPLERS, SCHEDULES, TrainConfig

RECIPES, IAM = "docs/recipes.md", "docs/models/iam.md"
GENERATED = {"benchmarks.md", "changelog.md", "reference/cli.md", "results/index.md"}
"""Pages that docs/site_hooks.py makes of other files."""
SETTINGS = {
    (RECIPES, "[data]"): DataSection,
    (RECIPES, "[text]"): TextSection,
    (RECIPES, "[vectors]"): VectorsSection,
    (RECIPES, "[links]"): LinksSection,
    (RECIPES, "[stage]"): StageConfig,
    (RECIPES, "[train]"): TrainConfig,
    (RECIPES, "[run]"): RunSection,
    (IAM, "[stage.language-model-query], [stage.language-model-document]"): LanguageModelConfig,
    (IAM, "[stage.energy]"): EnergyConfig,
    **{
        (f"docs/models/{entry.model.__module__.split('.')[2]}.md", "Settings"): (entry.model.Config)
        for entry in map(MODELS.__getitem__, MODELS)
    },
}


def default(field):
    """A default as a recipe writes it."""
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value is MISSING:
        return "required"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value)


@pytest.mark.parametrize(("place", "config"), SETTINGS.items(), ids=str)
def test_every_setting_with_its_default(place, config):
    page, heading = place
    rows = {row[0].strip("`"): row for row in tables(ROOT / page)[heading]}
    expected = {field.name: default(field) for field in fields(config)}
    assert list(rows) == list(expected)
    for name, value in expected.items():
        written = rows[name][1].strip("`")
        if value not in ("required", "none"):  # 1e-3 and 0.001 are the same number
            written = json.dumps(tomllib.loads(f"x = {written}")["x"])
        assert written == value, f"{page}, {heading}, {name}"
    for name, hint in get_type_hints(config).items():
        for choice in get_args(hint) if get_origin(hint) is Literal else ():
            assert f'`"{choice}"`' in rows[name][2], f"{page}, {heading}, {name}: {choice}"


NAMED = {"loss": LOSSES, "negatives": SAMPLERS, "optimizer": OPTIMIZERS, "schedule": SCHEDULES}


@pytest.mark.parametrize(("setting", "registry"), NAMED.items())
def test_every_registered_name_of_a_training_setting(setting, registry):
    rows = {row[0].strip("`"): row for row in tables(ROOT / RECIPES)["[train]"]}
    assert all(f'`"{name}"`' in rows[setting][2] for name in registry)


def test_every_section_of_a_recipe():
    page = (ROOT / RECIPES).read_text()
    assert all(f"## [{section}]" in page for section in SECTIONS)


def test_every_model_and_its_training_defaults():
    table = {
        row[0].strip("`"): row for row in tables(ROOT / RECIPES)["Training defaults of models"]
    }
    assert set(table) == set(MODELS)
    for name, (_, written) in table.items():
        settings = tomllib.loads(written.replace("`", "").replace(", ", "\n"))
        assert settings == dict(MODELS[name].model.training_defaults), name


def test_every_data_set_and_its_options():
    rows = {row[0].strip("`"): row for row in tables(ROOT / "docs/data.md")["Catalogue"]}
    assert set(rows) == set(CATALOGUE)
    for name, row in rows.items():
        entry = CATALOGUE[name]
        assert [split.strip("` ") for split in row[1].split(",")] == list(entry.splits), name
        assert row[2] == entry.protocol, name
        for option, values in entry.options.items():
            choices = ", ".join(str(value).lower() for value in values)
            assert f"`{option}`: {choices}" in row[3], name


def test_every_reader():
    text = (ROOT / "docs/data.md").read_text()
    assert all(f"`{name}`" in text for name in READERS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target in links(path):
        if not target.startswith(("http://", "https://", "#")):
            file = path.parent / target.partition("#")[0]
            generated = [ROOT / "docs" / page for page in GENERATED]
            assert file.exists() or file.resolve() in generated, target


def in_navigation(entries):
    """Pages of the site, as mkdocs.yml lists them."""
    for entry in entries:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from in_navigation(target) if isinstance(target, list) else [target]


def test_every_page_is_in_the_navigation():
    docs = ROOT / "docs"
    listed = set(in_navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert written <= listed
    assert listed - written == GENERATED


def test_the_numbers_of_the_demo_come_from_its_json():
    readme = (ROOT / "README.md").read_text()
    demo = json.loads((ROOT / "docs/demo.json").read_text())
    for name, system in demo["systems"].items():
        row = next(line for line in readme.splitlines() if line.strip().startswith(f"{name}  "))
        assert [f"{value:.4f}" in row for value in system["measures"].values()] == [True] * 3


def test_what_untrained_matchers_have_comes_from_its_json():
    text = (ROOT / "docs/transformers.md").read_text()
    found = re.findall(r"\[(\.\d{4})\]\(untrained/(.+?)\.json\)", text)
    assert len(found) == len(list((ROOT / "docs/untrained").glob("*.json"))) == 2
    for written, name in found:
        evaluated = json.loads((ROOT / f"docs/untrained/{name}.json").read_text())
        value = evaluated["systems"][name]["measures"]["AP"]["value"]
        assert f"{value:.4f}" == f"0{written}" and evaluated["dataset"] == "wikiqa"


@pytest.mark.parametrize("model", ["iasm", "match_srnn"])
def test_the_numbers_of_a_model_come_from_their_results(model):
    rows = tables(ROOT / f"docs/models/{model}.md")["Results"]
    assert rows
    for recipe, measure, *written in rows:
        path, _, condition = recipe.partition("(../../")[2].partition(")")
        result = json.loads((ROOT / path).read_text())
        measured = by_condition(result)[condition.removeprefix(", ")]
        alone = measured["measures"][measure]
        fused = measured["systems"].get(f"BM25 + {result['model']}")  # only rankings are fused
        expected = [
            f"{measured['systems']['BM25'][measure]['mean']:.4f}",
            f"{alone['mean']:.4f}",
            "–" if alone["paper"] is None else f"{alone['paper']:.4f}",
            f"{fused[measure]['mean']:.4f}" if fused else "–",
            f"{fused[measure]['p_holm']:.4f}" if fused else "–",
            str(len(result["seeds"])),
        ]
        assert written == expected, recipe


def test_the_faithfulness_of_explanations_comes_from_its_json():
    seen = set()
    for matcher, evidence, *gains in tables(ROOT / "docs/explain.md")["Measured"]:
        path = ROOT / matcher.partition("(../")[2].removesuffix(")")
        seen.add(path)
        found = json.loads(path.read_text())
        assert evidence == found["evidence"].lower()
        assert gains == [f"{found[kind]['gain']:+.4f}" for kind in ("deletion", "insertion")]
        assert found["num_pairs"] == 200 and found["num_draws"] == 5
        assert all(found[kind]["p"] < 0.0001 for kind in ("deletion", "insertion"))
    assert seen == set((ROOT / "results/faithfulness").glob("*.json"))


TRANSFORMER_TABLES = {
    "WikiQA": ("wikiqa", "", ("AP", "RR")),
    "TrecQA": ("trecqa", "", ("AP", "RR")),
    "TrecQA, clean": ("trecqa", "clean", ("AP", "RR")),
    "InsuranceQA V2, pools of 500": ("insuranceqa-v2", "", ("P@1", "RR")),
}


@pytest.mark.parametrize(
    ("page", "models"),
    [("addax", ("addax", "cross-encoder", "bi-encoder", "colbert")), ("iam", ("iam",))],
)
def test_numbers_by_data_set_come_from_their_results(page, models):
    found = tables(ROOT / f"docs/models/{page}.md")
    for heading, (data, condition, measures) in TRANSFORMER_TABLES.items():
        seen = set()
        for system, *written in found.get(heading, ()):
            path = system.partition("(../../")[2].removesuffix(")")
            if path:
                seen.add(ROOT / path)
                assert written == cells_of(ROOT / path, condition, measures), system
        results = {
            path for model in models for path in (ROOT / "results" / data).glob(f"{model}*.json")
        }
        shown = {
            path for path in results if condition in by_condition(json.loads(path.read_text()))
        }
        assert seen == shown, f"{page}: {heading}"


ADDAX_SWEEPS = {
    "Sensitivity": ("wikiqa-addax-alpha", "wikiqa-addax-delta", "wikiqa-addax-gamma"),
    "Effect of each training choice": (
        "wikiqa-addax-start",
        "wikiqa-addax-negatives",
        "wikiqa-addax-scale",
        "wikiqa-addax-inference",
        "wikiqa-addax-rate",
        "wikiqa-addax-together",
        "wikiqa-addax-cells",
        "wikiqa-addax-temperature",
    ),
    "Settings for cross-encoding": ("wikiqa-addax-joint", "trecqa-addax-joint"),
}


@pytest.mark.parametrize("heading", ADDAX_SWEEPS)
def test_what_dev_says_of_addax_comes_from_its_sweeps(heading):
    found = []
    for name in ADDAX_SWEEPS[heading]:
        sweep = json.loads((ROOT / f"results/sweeps/{name}.json").read_text())
        assert not sweep["missing"]
        for one in sweep["combinations"]:
            dev = [seed["dev"] for seed in one["per_seed"]]
            keys = ", ".join(f"`{key.partition('.')[2]}`" for key in one["values"])
            values = ", ".join(_written(value) for value in one["values"].values())
            found.append([keys, values, f"{sum(dev) / len(dev):.4f}"])
    assert tables(ROOT / "docs/models/addax.md")[heading] == found and len(found) >= 8


ADDAX_WITHOUT = ("no-mags", "no-highway", "no-denoiser", "attention")


def test_what_each_part_of_addax_is_worth_comes_from_results():
    def measured(path):
        return next(iter(json.loads(path.read_text())["measures"].values()))["mean"]

    rows = tables(ROOT / "docs/models/addax.md")["What each part is worth"]
    for system, *gains in rows:
        full = ROOT / system.partition("(../../")[2].removesuffix(")")
        for gain, without in zip(gains, ADDAX_WITHOUT, strict=True):
            name = re.sub(r"^(addax(-joint|-tuned)?)(-half)?", rf"\1-{without}", full.name)
            points = 100 * (measured(full) - measured(full.with_name(name)))
            assert gain == f"{round(points, 1) + 0.0:+.1f}"  # never -0.0
    assert len(rows) == 10


def _written(value):
    """As a table has it: numbers short, words as a recipe writes them."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"`{json.dumps(value)}`" if isinstance(value, str) else json.dumps(value)


def test_other_models_beside_iam_come_from_their_results():
    rows = tables(ROOT / "docs/models/iam.md")["Beside the other models, on word vectors"]
    assert len(rows) >= 5
    for name, *written in rows:
        cells = []
        for data, condition in (("wikiqa", ""), ("trecqa", "clean")):
            path = ROOT / f"results/{data}/{name}.json"
            measured = (
                by_condition(json.loads(path.read_text()))[condition] if path.exists() else None
            )
            for measure in ("AP", "RR"):
                cells.append(f"{measured['measures'][measure]['mean']:.4f}" if measured else "–")
        assert written == cells, name


def cells_of(path, condition, measures):
    """Mean and the paper's of each measure, the first fused with BM25, and the number of seeds."""
    result = json.loads(path.read_text())
    measured = by_condition(result)[condition]
    fused = measured["systems"].get(f"BM25 + {result['model']}")
    cells = []
    for name in measures:
        alone = measured["measures"][name]
        cells.append(f"{alone['mean']:.4f}")
        cells.append("–" if alone.get("paper") is None else f"{alone['paper']:.4f}")
    cells.append(f"{fused[measures[0]]['mean']:.4f}" if fused else "–")
    return [*cells, str(len(result["seeds"]))]


HCAN_TABLES = {
    "TrecQA": ("AP", "RR"),
    "TwitterURL": ("macro-F1", "macro-PR-F1"),
    "TREC-2013": ("AP", "P@30"),
    "TREC-2014": ("AP", "P@30"),
}


def test_the_numbers_of_hcan_come_from_their_results():
    found = tables(ROOT / "docs/models/hcan.md")
    seen = set()
    for heading, measures in HCAN_TABLES.items():
        rows = found[heading]
        paths = [row[0].partition("(../../")[2].removesuffix(")") for row in rows]
        results = [json.loads((ROOT / path).read_text()) for path in paths if path]
        for (system, *written), path in zip(rows, paths, strict=True):
            if path:
                seen.add(ROOT / path)
                result = json.loads((ROOT / path).read_text())
                expected = [*hcan_cells(result, measures), str(len(result["seeds"]))]
            else:
                baseline = [
                    f"{results[0]['systems'][system][name]['mean']:.4f}" for name in measures
                ]
                expected = [baseline[0], "–", "–", baseline[1], "–", "–", "–"]
            assert written == expected, system
    assert seen == set((ROOT / "results").glob("*/hcan*.json"))


def hcan_cells(result, measures):
    """Alone, fused with the first system, and the paper's, for each measure."""
    first = "QL" if "QL" in result["systems"] else "BM25"
    fused = result["systems"].get(f"{first} + {result['model']}")
    for name in measures:
        alone = result["measures"][name]
        yield f"{alone['mean']:.4f}"
        yield f"{fused[name]['mean']:.4f}" if fused else "–"
        yield "–" if alone["paper"] is None else f"{alone['paper']:.4f}"


def test_the_best_results_on_the_page_of_models_come_from_their_results():
    rows = tables(ROOT / "docs/models/index.md")["Models"]
    assert {name.strip("`") for row in rows for name in row[1].split(", ")} == set(MODELS)
    for row in rows:
        found = re.fullmatch(r"(\w+) AP \[([\d.]+)\]\(\.\./\.\./(results/(\w+)/.+?)\)", row[4])
        if found is None:
            assert row[4] == "not on a benchmark"
            continue
        value = json.loads((ROOT / found[3]).read_text())["measures"]["AP"]["mean"]
        family = {name.strip("`") for name in row[1].split(", ")}
        others = (
            json.loads(path.read_text()) for path in (ROOT / "results" / found[4]).glob("*.json")
        )
        best = max(one["measures"]["AP"]["mean"] for one in others if one["model"] in family)
        assert found[2] == f"{value:.4f}" == f"{best:.4f}", row[0]


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs/reference/api.md").read_text()
    missing = [name for name in matchwork.__all__ if not re.search(rf"\b{name}\b", page)]
    assert missing == ["__version__"]

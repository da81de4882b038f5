"""Rows beside the matcher: BM25, BM25+RM3, the data set's own runs, and fusion with any of them."""

from dataclasses import replace

import pytest

from matchwork.data import CATALOGUE, CatalogueEntry, read_run, toy
from matchwork.errors import ConfigError
from matchwork.evaluate import evaluate
from matchwork.evaluate.fusion import choose_weight
from matchwork.experiment import load_recipe, results_table, run_recipe
from matchwork.experiment.prepare import prepare
from matchwork.experiment.results import read_result
from matchwork.matcher import Matcher
from matchwork.rank.fusion import fuse
from matchwork.rank.rm3 import rm3_run

QUICK = ["run.seeds=[3]", "train.max_epochs=1", "data.name=searched"]
ALL = [*QUICK, "data.baselines=['BM25+RM3']", "data.fuse_with=['BM25', 'QL']"]


def searched():
    """The toy questions, found by a search engine that likes short answers."""
    dataset = toy()
    splits = {}
    for name, split in dataset.splits.items():
        found = {
            query: {document: 1 / len(split.documents[document]) for document in pool}
            for query, pool in split.candidates.items()
        }
        splits[name] = replace(split, runs={"QL": found})
    return replace(dataset, splits=splits)


@pytest.fixture(autouse=True)
def catalogued(monkeypatch):
    entry = CatalogueEntry(
        title="", licence="", build=searched, splits=dict.fromkeys(toy().splits), runs=("QL",)
    )
    monkeypatch.setitem(CATALOGUE._entries, "searched", entry)


def test_every_row(write_recipe, tmp_path):
    recipe = load_recipe(write_recipe(), ALL)
    result = run_recipe(recipe, tmp_path / "out")
    systems = result["systems"]
    assert list(systems) == ["BM25", "BM25+RM3", "QL", "BM25 + bag", "QL + bag"]
    assert result["baselines"] == ["BM25", "BM25+RM3", "QL"]
    assert read_result(tmp_path / "out" / "result.json") == result

    condition = prepare(recipe).main
    dev, test = condition.dev.split, condition.test.split
    bm25 = condition.test.bm25_run()
    runs = {"BM25": bm25, "BM25+RM3": rm3_run(test, bm25), "QL": test.runs["QL"]}
    for name, run in runs.items():
        value = evaluate(run, test.qrels, ["AP"])["AP"]
        assert systems[name]["AP"]["mean"] == pytest.approx(value), name
        assert "p_holm" not in systems[name]["AP"]  # what nobody trained is not tested
    matcher = Matcher.load(tmp_path / "out" / "seed-3" / "matcher")
    run = read_run(tmp_path / "out" / "seed-3" / "test.run")
    (seed,) = result["per_seed"]
    assert seed["fusion_weight"] == seed["fusion_weights"]["BM25"]
    for name, theirs in (("BM25", condition.dev.bm25_run()), ("QL", dev.runs["QL"])):
        weight = choose_weight(condition.dev.run(matcher), theirs, dev.qrels)
        assert seed["fusion_weights"][name] == weight
        value = evaluate(fuse(run, runs[name], weight), test.qrels, ["AP"])["AP"]
        assert systems[f"{name} + bag"]["AP"]["mean"] == pytest.approx(value)
    assert systems["QL + bag"]["AP"]["p_holm"] is not None
    card = (tmp_path / "out" / "seed-3" / "matcher" / "README.md").read_text()
    assert all(f"| {name} |" in card for name in systems)
    assert f"{seed['fusion_weights']['QL']} beside QL, chosen on dev" in card


def test_a_supplied_run_is_a_row_unasked(write_recipe, tmp_path):
    result = run_recipe(load_recipe(write_recipe(), QUICK), tmp_path / "out")
    assert list(result["systems"]) == ["BM25", "QL", "BM25 + bag"]
    assert "fusion_weights" not in result["per_seed"][0]


def test_without_fusion(write_recipe, tmp_path):
    recipe = load_recipe(write_recipe(), [*QUICK, "data.fuse_with=[]"])
    result = run_recipe(recipe, tmp_path / "out")
    assert list(result["systems"]) == ["BM25", "QL"]
    assert result["per_seed"][0]["fusion_weight"] is None
    card = (tmp_path / "out" / "seed-3" / "matcher" / "README.md").read_text()
    assert "Fusion" not in card and "(ties count against the system)" in card


def test_the_numbers_do_not_depend_on_further_rows(write_recipe, tmp_path):
    plain = run_recipe(load_recipe(write_recipe(), QUICK), tmp_path / "plain")
    more = run_recipe(load_recipe(write_recipe(), ALL), tmp_path / "more")
    for key in ("mean", "ci"):
        assert plain["measures"]["AP"][key] == more["measures"]["AP"][key]
    assert plain["systems"]["QL"] == more["systems"]["QL"]


def test_ties_by_id_are_named_on_the_card(write_recipe, tmp_path):
    settings = [*QUICK, "data.protocol=trec-eval"]
    result = run_recipe(load_recipe(write_recipe(), settings), tmp_path / "out")
    assert result["protocol"] == "trec-eval"
    card = (tmp_path / "out" / "seed-3" / "matcher" / "README.md").read_text()
    assert "(ties fall by id)" in card


def test_each_baseline_is_one_line_of_the_page(write_recipe, tmp_path):
    plain = run_recipe(load_recipe(write_recipe(), QUICK), tmp_path / "plain")
    more = run_recipe(load_recipe(write_recipe(), ALL), tmp_path / "more")
    lines = results_table([plain, {**more, "recipe": "more"}]).splitlines()
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    assert names == [
        *("system", "BM25", "QL", "BM25+RM3"),
        *("bag", "BM25 + bag", "bag", "BM25 + bag", "QL + bag"),
    ]
    assert all(line.endswith("| – | – |") for line in lines if line.startswith("| QL |"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "fuse_with=['QM']",
            r"tiny\.toml: fuse_with = 'QM' is not a baseline here; known: BM25, QL",
        ),
        ("fuse_with=['BM25+RM3']", r"fuse_with = 'BM25\+RM3' is not a baseline here; .*BM25"),
        ("fuse_with=QL", r"section \[data\]: fuse_with = 'QL'"),
        ("fuse_with=['QL', 'QL']", r"section \[data\]: fuse_with names a system twice"),
        ("baselines=['RM3']", r"section \[data\]: baselines.*'BM25\+RM3'"),
    ],
)
def test_wrong_systems_are_refused_before_any_work(write_recipe, setting, message):
    with pytest.raises(ConfigError, match=message):
        load_recipe(write_recipe(), [*QUICK, f"data.{setting}"])


def test_a_set_without_runs_has_nothing_else_to_fuse_with(write_recipe):
    with pytest.raises(ConfigError, match="fuse_with = 'QL' is not a baseline here; known: BM25"):
        load_recipe(write_recipe(), ["data.fuse_with=['QL']"])

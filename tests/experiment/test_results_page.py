"""Results as a page: every number from a JSON file, links that lead to it."""

import json
import re

import pytest

from matchwork.errors import DataError
from matchwork.experiment import load_results, results_table, write_results_page
from matchwork.experiment.results import (
    read_queries,
    read_result,
    without_queries,
    write_result,
)
from matchwork.experiment.results.charts import results_chart
from matchwork.experiment.results.tables import grouped, short_table


def values(mean, **more):
    return {"mean": mean, "std": 0.0, "ci": [mean - 0.1, mean + 0.1], "paper": None, **more}


def result(dataset="toy", recipe="tiny", model="bag", **more):
    return {
        "dataset": dataset,
        "recipe": recipe,
        "model": model,
        "protocol": "raw",
        "split": "test",
        "num_queries": 6,
        "seeds": [1, 2],
        "measures": {"AP": values(0.5, std=0.02, paper=0.61, p_holm=0.0312)},
        "systems": {"BM25": {"AP": values(0.4)}, f"BM25 + {model}": {"AP": values(0.55)}},
        "paper": {"AP": 0.61},
        "per_query": {"AP": {"q1": 0.5}},
        **more,
    }


@pytest.fixture
def folder(tmp_path):
    for one in (
        result(),
        result(recipe="other", model="knrm"),
        result(dataset="wikiqa", protocol="clean"),
    ):
        write_result(tmp_path / one["dataset"] / f"{one['recipe']}.json", one)
    return tmp_path


def test_the_queries_are_beside_the_summary(folder):
    path = folder / "toy" / "tiny.json"
    summary = json.loads(path.read_text())
    assert summary == {key: value for key, value in result().items() if key != "per_query"}
    assert read_result(path) == result()
    assert read_queries(path) == {"": {"AP": {"q1": 0.5}}}
    packed = path.with_name("tiny.queries.json.gz")
    before = packed.read_bytes()
    write_result(path, result())
    assert packed.read_bytes() == before
    packed.write_bytes(before[:-9])
    with pytest.raises(DataError, match=r"tiny\.queries\.json\.gz: not compressed JSON"):
        read_queries(path)
    packed.unlink()
    assert read_result(path) == summary
    with pytest.raises(DataError, match=r"tiny\.queries\.json\.gz: cannot read: No such file"):
        read_queries(path)


def test_results_are_found_in_order(folder):
    (folder / "toy" / "notes.json").write_text("[1, 2]")
    (folder / "README.md").write_text("not JSON")
    found = [(one["dataset"], one["recipe"]) for one in load_results(folder)]
    assert found == [("toy", "other"), ("toy", "tiny"), ("wikiqa", "tiny")]


def test_the_table(folder):
    lines = results_table(load_results(folder)).splitlines()
    assert [line for line in lines if line.startswith("## ")] == ["## toy", "## wikiqa"]
    assert "Protocol `clean`, 6 queries of split `test`." in lines
    assert lines.count("| BM25 | 0.4000 [0.300, 0.500] | – | – |") == 2  # once per table
    assert (
        "| bag | 0.5000 ± 0.0200 [0.400, 0.600], *p* 0.0312 (paper 0.6100) | 2 | "
        "[tiny](toy/tiny.json) |" in lines
    )
    assert any(line.startswith("| BM25 + knrm | 0.5500") for line in lines)


def conditions():
    """Two recipes on the same two conditions, whichever of them is the main one."""
    full = {
        "protocol": "raw",
        "split": "test",
        "options": {"pool": "full"},
        "depth": 100,
        "num_queries": 6,
        "measures": {"AP": values(0.3)},
        "systems": {"BM25": {"AP": values(0.2)}, "BM25 + bag": {"AP": values(0.35)}},
        "paper": {},
        "per_query": {"AP": {"q1": 0.3}},
    }
    own = {"options": {"pool": "test"}, "depth": 0}
    return result(recipe="a", **own, also={"full-pool": full}), result(recipe="b", **full)


def test_a_section_for_every_condition(folder):
    for one in conditions():
        write_result(folder / "toy" / f"{one['recipe']}.json", one)
    found = [one for one in load_results(folder) if one["recipe"] in "ab"]
    assert found == [without_queries(one) for one in conditions()]
    own, full = results_table(found).split("\n\n## ")
    lines = full.splitlines()
    assert own.startswith("## toy\n") and lines[0] == "toy, full-pool"
    assert "queries of split `test`, pool=test, all documents ranked." in own
    assert "queries of split `test`, pool=full, BM25's best 100 re-ranked." in full
    assert sum(line.startswith("| BM25 | 0.2000") for line in lines) == 1
    assert [line.split("| ")[-1] for line in lines if line.startswith("| bag")] == [
        "[a](toy/a.json) |",
        "[b](toy/b.json) |",
    ]
    assert "| bag | 0.3000" not in own


def test_the_queries_of_a_condition_are_beside_it_too(folder):
    one, _ = conditions()
    path = folder / "toy" / "a.json"
    write_result(path, one)
    assert "per_query" not in path.read_text() and read_result(path) == one
    assert read_queries(path)["full-pool"] == {"AP": {"q1": 0.3}}


def test_a_measure_that_one_recipe_lacks(folder):
    other = result(recipe="x", measures={"RR": values(0.7)}, systems={"BM25": {"AP": values(0.4)}})
    write_result(folder / "toy" / "x.json", other)
    assert "| bag | – | 2 | [x](toy/x.json) |" in results_table(load_results(folder))


def test_the_page_and_its_links(folder):
    page = write_results_page(folder)
    text = page.read_text()
    assert page.name == "README.md" and text.startswith("# Results")
    links = re.findall(r"\]\((.+?)\)", text)
    assert links and all((folder / link).exists() for link in links)
    assert write_results_page(folder).read_text() == text


def test_the_best_recipe_of_each_model(folder):
    better = result(recipe="better", measures={"AP": values(0.7), "RR": values(0.1)})
    (group,) = grouped([result(), better, result(recipe="k", model="knrm")])
    assert group.main_measures == ["AP"]
    assert short_table(group).splitlines()[2:] == [
        "| BM25 | 0.4000 | – | – |",
        "| bag | 0.7000 | – | [better](toy/better.json) |",
        "| knrm | 0.5000 (paper 0.6100) | 0.0312 | [k](toy/k.json) |",
    ]


def test_lower_errors_are_better(folder):
    def errors(value):
        return {"measures": {"MSE": values(value)}, "systems": {"BM25": {"MSE": values(0.5)}}}

    (group,) = grouped([result(**errors(0.2)), result(recipe="less", **errors(0.1))])
    assert "[less]" in short_table(group) and "[tiny]" not in short_table(group)
    dots = results_chart(group, group.main_measures[0]).to_dict(validate=False)["layer"][2]
    assert dots["encoding"]["y"]["sort"] == ["less", "tiny", "BM25"]


def test_no_results_is_an_empty_table(tmp_path):
    assert load_results(tmp_path) == [] and results_table([]) == ""

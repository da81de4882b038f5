"""Three classes from pair files to predicted classes, all through the command line."""

import json
import random
from pathlib import Path

import pytest

RECIPE = """
[data]
name = "nli"
[model]
name = "hcan-sm"
num_classes = 3
num_layers = 1
filters = 8
hidden = 12
[vectors]
dim = 12
trainable = true
[train]
optimizer = "adam"
learning_rate = 0.02
batch_size = 16
max_epochs = 6
dev_measure = "macro-F1"
accelerator = "cpu"
"""
ANSWERS = ["this was never so", "perhaps this was so", "this was indeed so"]
THINGS = ["cat", "dog", "tree", "boat", "lamp", "road", "king", "song", "wolf", "bell", "star"]


def write_pairs(path: Path, num: int, seed: int, top: int = 2) -> None:
    choose = random.Random(seed)
    lines = ["query\tdocument\tlabel"]
    for number in range(num):
        label = number % (top + 1)
        first, second = choose.sample(THINGS, 2)
        answer = ANSWERS[label % 3]
        lines.append(f"the {first} saw a {second} {number}\t{answer} said the {second}\t{label}")
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    for seed, (name, num) in enumerate({"train": 90, "dev": 30, "test": 30}.items()):
        write_pairs(folder / "nli" / f"{name}.tsv", num, seed)
    (folder / "nli.toml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def trained(place):
    """Trained once, by the program itself."""
    from typer.testing import CliRunner

    from matchwork.cli.main import app

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        result = CliRunner().invoke(app, ["train", "nli.toml", "--out", "run"])
    assert result.exit_code == 0, result.stderr
    return result


@pytest.fixture
def here(place, trained, monkeypatch):
    monkeypatch.chdir(place)
    return place


def test_training_selects_by_classes_and_reports_each(here, trained):
    result = json.loads(Path("run/result.json").read_text())
    each = [f"F1(class={label})" for label in range(3)]
    assert list(result["measures"]) == ["Accuracy", "macro-F1", "macro-PR-F1", *each]
    assert result["measures"]["macro-F1"]["mean"] > 0.9
    assert result["systems"]["BM25"]["Accuracy"]["mean"] < 0.7
    assert result["measures"]["Accuracy"]["difference"] > 0.2
    assert result["per_seed"][0]["dev"] > 0.9
    assert "F1(class=2)" in trained.stdout
    assert "F1(class=0)" in Path("run/seed-1/matcher/README.md").read_text()


def test_evaluate_knows_that_the_matcher_tells_classes_apart(here, call, call_json):
    shown = call("evaluate", "run/seed-1/matcher", "nli")
    assert shown.exit_code == 0, shown.stderr
    assert "macro-PR-F1" in shown.stdout and "F1(class=2)" in shown.stdout
    found = call_json("evaluate", "run/seed-1/matcher", "nli", "--measures", "Accuracy")
    assert found["task"] == "classification" and found["num_queries"] == 30
    measured = json.loads(Path("run/result.json").read_text())["measures"]["Accuracy"]["mean"]
    assert found["systems"]["hcan-sm"]["measures"]["Accuracy"]["value"] == pytest.approx(measured)
    alone = call_json("evaluate", "bm25", "nli", "--measures", "macro-F1,F1(class=2)")
    assert set(alone["systems"]["BM25"]["measures"]) == {"macro-F1", "F1(class=2)"}


def test_score_writes_the_class_and_the_probability_of_each(here, call):
    arguments = ("run/seed-1/matcher", "nli/test.tsv", "--out", "out.jsonl")
    result = call("score", *arguments, "--class", "--probability")
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    for row in rows:
        each = [row[f"probability_{label}"] for label in range(3)]
        assert sum(each) == pytest.approx(1) and each.index(max(each)) == row["class"]
    accuracy = sum(row["class"] == row["label"] for row in rows) / len(rows)
    measured = json.loads(Path("run/result.json").read_text())["measures"]["Accuracy"]["mean"]
    assert accuracy == pytest.approx(measured)


def test_of_two_classes_a_match_is_class_1(here, call, matcher_folder):
    call("score", matcher_folder, "nli/test.tsv", "--out", "two.parquet", "--class")
    import pyarrow.parquet as parquet

    call("score", matcher_folder, "nli/test.tsv", "--out", "p.jsonl", "--class", "--probability")
    rows = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert all(row["class"] == (row["probability"] >= 0.5) for row in rows)
    table = parquet.read_table("two.parquet")
    assert table["class"].to_pylist() == [row["class"] for row in rows]


def test_a_single_file_is_cut_and_measured_alike(here, call_json, call):
    write_pairs(here / "one.tsv", 240, seed=7)
    settings = ("--set", "data.name=one.tsv", "--set", "train.max_epochs=1")
    result = call("train", "nli.toml", *settings, "--out", "one")
    assert result.exit_code == 0, result.stderr
    kept = json.loads(Path("one/result.json").read_text())
    found = call_json("evaluate", "one/seed-1/matcher", "one.tsv")
    systems = {"hcan-sm": kept["measures"], "BM25": kept["systems"]["BM25"]}
    for name, measures in systems.items():
        values = found["systems"][name]["measures"]
        assert {m: v["value"] for m, v in values.items()} == pytest.approx(
            {m: v["mean"] for m, v in measures.items()}
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["model.num_classes=2"], "'hcan-sm' tells two classes apart; split"),
        (["train.dev_measure=RR"], "num_classes = 3 is for classification"),
        (["train.negatives=random"], 'use negatives = "labelled"'),
        (["data.measures=['F1(class=3)']"], "F1(class=3): there are only classes 0..2"),
        (["data.measures=['AP']"], "'AP' does not measure classification"),
    ],
)
def test_wrong_settings_say_what_to_do(here, call, settings, message):
    changes = [word for setting in settings for word in ("--set", setting)]
    result = call("train", "nli.toml", *changes, "--out", "wrong")
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())
    assert not Path("wrong/seed-1").exists()


def test_a_label_past_the_classes_names_file_pair_and_remedy(here, call, matcher_folder):
    write_pairs(here / "four" / "train.tsv", 40, seed=3, top=3)
    for name in ("dev", "test"):
        write_pairs(here / "four" / f"{name}.tsv", 20, seed=4)
    result = call("train", "nli.toml", "--set", "data.name=four", "--out", "wrong")
    said = "".join(result.stderr.split())
    assert result.exit_code == 1 and "four/train.tsv,line5:" in said
    assert "label3isoutside0..2;correctit,orsetnum_classes=4" in said
    measured = call("evaluate", matcher_folder, "nli", "--measures", "Accuracy")
    assert measured.exit_code == 2 and "tells two classes apart" in measured.stderr

import pytest

from matchwork.data import read_run, toy, write_qrels
from matchwork.evaluate import evaluate, reliability
from matchwork.matcher import Matcher
from matchwork.rank import rank_all


@pytest.fixture
def qrels(tmp_path):
    path = tmp_path / "toy.qrels"
    write_qrels(path, toy()["test"].qrels)
    return path


def test_numbers_are_those_of_the_library(call_json, matcher_folder, tmp_path):
    out = tmp_path / "toy.run"
    found = call_json("evaluate", matcher_folder, "toy", "--run-out", out)
    split = toy()["test"]
    run = rank_all(Matcher.load(matcher_folder), split.queries, split.documents, split.candidates)
    measured = evaluate(run, split.qrels, ["AP", "RR", "P@1"])
    bag = found["systems"]["bag"]["measures"]
    assert {name: one["value"] for name, one in bag.items()} == measured.values
    assert tuple(bag["AP"]["ci"]) == measured.interval("AP")
    assert bag["AP"]["against BM25"]["p_holm"] >= bag["AP"]["against BM25"]["p"]
    assert read_run(out) == run


def test_run_file_and_matcher_agree(call, call_json, matcher_folder, qrels, tmp_path):
    out = tmp_path / "toy.run"
    direct = call_json("evaluate", matcher_folder, "toy", "--run-out", out, "--measures", "MRR,AP")
    files = call_json("evaluate", "--run", out, "--qrels", qrels, "--measures", "RR,AP")
    ours = direct["systems"]["bag"]["measures"]
    assert {k: v["value"] for k, v in files["measures"].items()} == {
        k: v["value"] for k, v in ours.items()
    }
    assert "6 queries, protocol raw" in call("evaluate", "--run", out, "--qrels", qrels).stdout


def test_fusion_and_report(call, matcher_folder, tmp_path):
    report = tmp_path / "report.html"
    result = call("evaluate", matcher_folder, "toy", "--weight", 0.5, "--report", report)
    assert result.exit_code == 0 and "BM25 + bag" in result.stdout
    page = report.read_text()
    assert "BM25 + bag on toy" in page and "<svg" in page and "against BM25" in page


@pytest.mark.parametrize(
    ("protocol", "rule"),
    [("raw", "counted against the system"), ("trec-eval", "sorted by id")],
)
def test_the_rule_for_ties_is_that_of_the_protocol(call, protocol, rule):
    printed = " ".join(call("evaluate", "bm25", "toy", "--protocol", protocol).stdout.split())
    assert f"tied documents, {rule}: BM25 2" in printed


def test_probabilities_are_checked(call, call_json, matcher_folder, tmp_path):
    found = call_json("evaluate", matcher_folder, "toy")["reliability"]
    matcher, pairs = Matcher.load(matcher_folder), list(toy()["test"].pairs())
    chances = matcher.probability([(pair.query, pair.document) for pair in pairs])
    expected = reliability(chances, [pair.label > 0 for pair in pairs])
    assert found["calibration_error"] == pytest.approx(expected.calibration_error)
    assert found["brier"] == pytest.approx(expected.brier) and found["num_pairs"] == len(pairs)
    report = tmp_path / "report.html"
    shown = call("evaluate", matcher_folder, "toy", "--report", report).stdout
    assert f"calibration error {expected.calibration_error:.4f}" in " ".join(shown.split())
    assert "Calibration</h" in report.read_text()
    assert call_json("evaluate", "bm25", "toy")["reliability"] is None


def test_bm25_alone(call_json):
    found = call_json("evaluate", "bm25", "toy", "--split", "dev", "--protocol", "clean")
    assert list(found["systems"]) == ["BM25"] and found["protocol"] == "clean"


def test_classification_measures_make_it_a_classification(call, call_json, matcher_folder):
    found = call_json("evaluate", matcher_folder, "toy", "--measures", "Accuracy,F1")
    assert found["task"] == "classification" and found["num_queries"] == 24
    assert "24 pairs" in call("evaluate", matcher_folder, "toy", "--measures", "F1").stdout


def test_collection_is_searched_first(call_json, matcher_folder, tmp_path):
    split = toy()["test"]
    (tmp_path / "corpus.tsv").write_text(
        "id\ttext\n" + "".join(f"{id}\t{text}\n" for id, text in split.documents.items())
    )
    (tmp_path / "queries.test.tsv").write_text(
        "id\ttext\n" + "".join(f"{id}\t{text}\n" for id, text in split.queries.items())
    )
    write_qrels(tmp_path / "qrels.test.txt", split.qrels)
    out = tmp_path / "top.run"
    call_json("evaluate", matcher_folder, tmp_path, "--depth", 2, "--run-out", out)
    assert max(map(len, read_run(out).values())) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a MATCHER and a DATASET"),
        (["bm25"], "name a MATCHER and a DATASET"),
        (["--run", "x.run"], "--run and --qrels go together"),
        (["bm25", "toy", "--measures", "nDGC@10"], "did you mean 'nDCG@10'"),
        (["bm25", "toy", "--measures", "AP,F1"], "do not mix"),
        (["bm25", "toy", "--weight", "0.5"], "leave it out"),
        (["bm25", "toy", "--protocol", "cleen"], "did you mean 'clean'"),
    ],
)
def test_impossible_questions(call, arguments, message):
    result = call("evaluate", *arguments)
    assert result.exit_code == 2 and message in result.stderr and result.stdout == ""


def test_unwritable_run_is_an_error(call, matcher_folder, qrels):
    result = call("evaluate", matcher_folder, "toy", "--run-out", qrels / "x.run")
    assert result.exit_code == 1 and "cannot write" in result.stderr


def test_compare(call, call_json, matcher_folder, qrels, tmp_path):
    ours, theirs = tmp_path / "bag.run", tmp_path / "bm25.run"
    call("evaluate", matcher_folder, "toy", "--run-out", ours)
    call("evaluate", "bm25", "toy", "--run-out", theirs)
    found = call_json("compare", theirs, ours, "--qrels", qrels, "--measures", "AP,P@1")
    one = found["measures"]["AP"]
    assert one["difference"] == pytest.approx(one["value"] - one["baseline"])
    assert one["wins"] + one["losses"] + one["ties"] == 6 == found["num_queries"]
    back = call_json("compare", ours, theirs, "--qrels", qrels)["measures"]["AP"]
    assert back["difference"] == pytest.approx(-one["difference"])
    assert (back["wins"], back["losses"]) == (one["losses"], one["wins"])
    shown = call("compare", theirs, ours, "--qrels", qrels)
    assert "Holm" in shown.stdout and "bm25.run" in shown.stdout


def test_compare_names_the_bad_line(call, qrels, tmp_path):
    bad = tmp_path / "bad.run"
    bad.write_text("q1 Q0 d1 1 high bag\n")
    result = call("compare", bad, bad, "--qrels", qrels)
    assert result.exit_code == 1 and "line 1, column 'score'" in result.stderr

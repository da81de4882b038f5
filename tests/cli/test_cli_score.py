import gzip
import json

import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchwork.cli.score import open_table
from matchwork.data import read_pairs, toy
from matchwork.matcher import Matcher, matcher

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)


@pytest.fixture
def pair_file(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [
        f"{p.query_id}\t{p.document_id}\t{p.query}\t{p.document}\t{p.label}\n"
        for split in toy().splits.values()
        for p in split.pairs()
    ]
    path.write_text("query_id\tdocument_id\tquery\tdocument\tlabel\n" + "".join(rows))
    return path


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Five windows where production would have one."""
    stream = Matcher.score_stream
    monkeypatch.setattr(
        Matcher, "score_stream", lambda self, pairs, advance: stream(self, pairs, 20, advance)
    )
    assert matcher.WINDOW > 20


def expected(folder, path):
    pairs = [(row.query, row.document) for row in read_pairs(path)]
    return Matcher.load(folder).score(pairs).tolist()


def test_windows_give_the_scores_of_one_call(call_json, matcher_folder, pair_file, tmp_path):
    out = tmp_path / "scores.tsv"
    summary = call_json("score", matcher_folder, pair_file, "--out", out)
    header, *lines = out.read_text().splitlines()
    assert header.split("\t") == [
        *("row", "query_id", "document_id", "query", "document", "label", "score")
    ]
    scores = [float(line.rsplit("\t", 1)[1]) for line in lines]
    assert scores == pytest.approx(expected(matcher_folder, pair_file), rel=1e-5)
    assert [line.split("\t")[0] for line in lines] == [str(n) for n in range(1, 97)]
    assert summary["rows"] == 96 and summary["out"] == str(out)


def test_the_output_can_be_scored_again(call, matcher_folder, pair_file, tmp_path):
    out = tmp_path / "scores.csv.gz"
    assert call("score", matcher_folder, pair_file, "--out", out).exit_code == 0
    again = [row[1:] for row in read_pairs(out)]
    assert again == [row[1:] for row in read_pairs(pair_file)]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "parquet"])
def test_every_format_holds_the_same(call, matcher_folder, pair_file, tmp_path, suffix):
    out = tmp_path / f"scores.{suffix}"
    assert call("score", matcher_folder, pair_file, "--out", out, "--probability").exit_code == 0
    if suffix == "parquet":
        rows = parquet.read_table(out).to_pylist()
    else:
        content = out.read_bytes()
        text = (gzip.decompress(content) if suffix.endswith("gz") else content).decode()
        rows = list(map(json.loads, text.splitlines()))
    scores = expected(matcher_folder, pair_file)
    assert [row["score"] for row in rows] == pytest.approx(scores, rel=1e-5)
    chances = Matcher.load(matcher_folder).calibration.probability(scores)
    assert [row["probability"] for row in rows] == pytest.approx(chances.tolist(), rel=1e-5)
    assert rows[0]["label"] in (0, 1) and rows[0]["row"] == 1


def test_stdout_holds_the_table_only(call, matcher_folder, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text('title,body\nhamlet,"a play,\nlong"\nlouvre,\n')
    result = call(
        "score", matcher_folder, path, "--out", "-", "--columns", "query=title,document=body"
    )
    header, first, second = result.stdout.splitlines()
    assert header.split("\t") == ["row", "query", "document", "score"]
    assert first.split("\t")[:3] == ["1", "hamlet", "a play, long"]
    assert second.split("\t")[:3] == ["2", "louvre", ""], "an empty document scores"
    assert "2 rows" in result.stderr


def test_bad_row_late_in_the_file_leaves_no_output(call, matcher_folder, pair_file, tmp_path):
    with pair_file.open("a") as stream:
        stream.write("only\tthree\tfields\n")
    out = tmp_path / "out" / "scores.tsv"
    result = call("score", matcher_folder, pair_file, "--out", out)
    assert result.exit_code == 1 and "line 98" in result.stderr
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "code", "message"),
    [
        ("scores.xls", 2, "cannot tell the format"),
        ("pairs.tsv/scores.tsv", 1, "cannot write"),
    ],
)
def test_impossible_output_is_refused(
    call, matcher_folder, pair_file, tmp_path, out, code, message
):
    result = call("score", matcher_folder, pair_file, "--out", tmp_path / out)
    assert result.exit_code == code and message in result.stderr


def test_json_and_stdout_exclude_each_other(call, matcher_folder, pair_file):
    result = call("score", matcher_folder, pair_file, "--out", "-", "--json")
    assert result.exit_code == 2 and "both want stdout" in result.stderr


def test_probability_needs_a_calibration(call, matcher_folder, pair_file, tmp_path):
    bare = Matcher.load(matcher_folder)
    bare.calibration = None
    bare.save(tmp_path / "bare")
    result = call(
        "score", tmp_path / "bare", pair_file, "--out", tmp_path / "x.tsv", "--probability"
    )
    assert result.exit_code == 2 and "not calibrated" in result.stderr


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 3)), min_size=1), min_size=1))
def test_written_tables_are_read_back(tmp_path, windows):
    written = [(q, d, label, None, None) for window in windows for q, d, label in window]
    for suffix in ("tsv", "csv", "jsonl", "parquet"):
        path = tmp_path / f"table.{suffix}"
        with open_table(str(path), ["query", "document", "label"]) as write:
            for window in windows:
                write(window)
        assert [row[1:] for row in read_pairs(path)] == written

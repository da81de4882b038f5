import json

import pytest

from matchwork.explain import json_schema
from matchwork.matcher import Matcher

QUERY = "who wrote hamlet"
LINES = [
    "shakespeare wrote the play hamlet",
    "",
    "the louvre is in [b]paris[/b]",
    "bees make honey",
]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_rank_orders_like_the_library(call, call_json, matcher_folder, lines):
    hits = call_json("rank", matcher_folder, "--query", QUERY, "--documents", lines)
    best = Matcher.load(matcher_folder).rerank(QUERY, [line for line in LINES if line])
    assert [hit["text"] for hit in hits] == [one.document.text for one in best]
    assert hits[0]["id"] == "1", "named by its line"
    shown = call("rank", matcher_folder, "--query", "louvre", "--documents", lines)
    assert "[b]paris[/b]" in shown.stdout and "by bag" in shown.stdout


def test_rank_says_how_likely_a_match_is_and_keeps_the_likely(
    call, call_json, matcher_folder, lines
):
    arguments = ["rank", matcher_folder, "-q", QUERY, "-d", lines]
    hits = call_json(*arguments)
    chances = [hit["probability"] for hit in hits]
    expected = Matcher.load(matcher_folder).probability([(QUERY, hit["text"]) for hit in hits])
    assert chances == pytest.approx(expected.tolist()) and chances == sorted(chances)[::-1]
    kept = call_json(*arguments, "--threshold", chances[1])
    assert [hit["probability"] for hit in kept] == [c for c in chances if c >= chances[1]]
    assert len(kept) < len(hits)
    assert call_json(*arguments, "--threshold", 1) == []
    shown = call(*arguments).stdout
    assert "probability" in shown and f"{chances[0]:.4f}" in shown
    assert call(*arguments, "--threshold", 1).exit_code == 0


def test_a_threshold_needs_probabilities(call, call_json, lines):
    assert call_json("rank", "bm25", "-q", "x", "-d", lines)[0]["probability"] is None
    result = call("rank", "bm25", "-q", "x", "-d", lines, "--threshold", 0.5)
    assert result.exit_code == 2 and "BM25 is not calibrated" in result.stderr


def test_rank_reads_stdin_with_bm25(call_json):
    hits = call_json("rank", "bm25", "-q", "honey", "-d", "-", "--top-k", 1, input="\n".join(LINES))
    assert [hit["text"] for hit in hits] == ["bees make honey"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_rank_reads_a_column_of_texts(call_json, tmp_path, suffix):
    path = tmp_path / f"corpus.{suffix}"
    rows = [("a", "bees make honey"), ("b", "paris")]
    path.write_text(
        "".join(json.dumps({"_id": id, "text": text}) + "\n" for id, text in rows)
        if suffix == "jsonl"
        else "_id,text\n" + "".join(f"{id},{text}\n" for id, text in rows)
    )
    hits = call_json("rank", "bm25", "-q", "paris", "-d", path)
    assert [hit["id"] for hit in hits] == ["b", "a"]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("\n\n", "texts.txt", "no documents"),
        ("name,size\na,b\n", "texts.csv", "'name', 'size'"),
        (None, "absent.txt", "no such file"),
    ],
)
def test_rank_says_what_is_wrong_with_the_documents(call, tmp_path, content, name, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    result = call("rank", "bm25", "-q", "x", "-d", tmp_path / name)
    assert result.exit_code == 1 and message in result.stderr and name in result.stderr


def test_missing_matcher_is_named(call, lines, tmp_path):
    result = call("rank", tmp_path / "none", "-q", "x", "-d", lines)
    assert result.exit_code == 1 and "no such folder" in result.stderr


def test_explain_prints_and_writes(call, call_json, matcher_folder, tmp_path):
    out = tmp_path / "why.json"
    arguments = ["explain", matcher_folder, "-q", QUERY, "-d", LINES[0], "--out", out]
    shown = call(*arguments)
    assert shown.exit_code == 0
    assert "probability of a match" in shown.stdout and "█" in shown.stdout
    assert str(out) in shown.stdout.replace("\n", "")
    assert json.loads(out.read_text()) == call_json(*arguments)


def test_explain_shows_layers_and_words_that_add_up(call, tiny_matcher, tmp_path):
    matcher = tiny_matcher("iasm-dynamic")
    matcher.save(tmp_path / "matcher")
    shown = call("explain", tmp_path / "matcher", "-q", QUERY, "-d", LINES[0], "-k", 2).stdout
    for layer in ("before", "after 1", "after 2", "after 3"):
        assert any(line.strip().startswith(layer) for line in shown.splitlines())
    assert "How well each query word is matched" in shown and " more)" in shown
    score = matcher.score([(QUERY, LINES[0])])[0]
    assert f"(document) = {-score:.4f}; the score is its negative." in shown.replace("\n", " ")


def test_explain_answers_for_an_empty_document(call, matcher_folder):
    shown = call("explain", matcher_folder, "-q", QUERY, "-d", "")
    assert shown.exit_code == 0 and "no table of word pairs" in shown.stdout


def test_explain_refuses_an_unknown_format(call, matcher_folder, tmp_path):
    result = call("explain", matcher_folder, "-q", "a", "-d", "b", "--out", tmp_path / "why.doc")
    assert result.exit_code == 2 and ".html" in result.stderr


def test_explain_needs_texts_or_a_data_set(call, matcher_folder):
    for arguments in ([], ["-q", "a"], ["-d", "b"]):
        result = call("explain", matcher_folder, *arguments)
        assert result.exit_code == 2 and "give --query and --document" in result.stderr
    result = call("explain", matcher_folder, "--faithfulness", "toy", "-q", "a")
    assert result.exit_code == 2 and "leave out the texts" in result.stderr


def test_explain_prints_its_schema(call):
    assert json.loads(call("explain", "--schema").stdout) == json_schema()


def test_faithfulness_is_measured_and_written(call, call_json, matcher_folder, tmp_path):
    arguments = ["explain", matcher_folder, "--faithfulness", "toy", "--pairs", 5, "--draws", 2]
    found = call_json(*arguments, "--write", "--results", tmp_path)
    assert found["dataset"] == "toy" and found["num_pairs"] == 5 and found["num_draws"] == 2
    assert set(found["deletion"]) == set(found["insertion"]) >= {"gain", "ci", "p", "curve"}
    folder = tmp_path / "faithfulness"
    assert json.loads((folder / "toy-bag.json").read_text()) == found
    assert "more faithful" in (folder / "toy-bag.svg").read_text()
    shown = call(*arguments)
    assert "insertion" in shown.stdout and "5 matching pairs" in shown.stdout
    assert f"{found['deletion']['gain']:+.4f}" in shown.stdout, "same seed, same numbers"


def test_faithfulness_needs_matching_pairs(call, matcher_folder, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("query\tdocument\tlabel\na\tb c\t0\n")
    result = call("explain", matcher_folder, "--faithfulness", pairs, "--split", "pairs")
    assert result.exit_code == 1 and "no pair labelled as a match" in result.stderr

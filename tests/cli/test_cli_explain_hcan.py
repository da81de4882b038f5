"""`matchwork explain` with a trained HCAN: phrases by level, and relevance or semantics."""

import json

import pytest
import torch

from matchwork.data import toy
from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer
from matchwork.train import train

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet was written by William Shakespeare."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An HCAN of one layer after two epochs of the toy questions."""
    torch.manual_seed(0)
    data = toy()
    tokenizer = WordTokenizer.fit(text for split in data.splits.values() for text in split.texts)
    entry = MODELS["hcan"]
    config = entry.config({"num_layers": 1, "filters": 8, "query_length": 12})
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8, trainable=True)
    matcher = Matcher(tokenizer, entry.model(config, encoder), max_query_length=12)
    train(matcher, data, max_epochs=2, accelerator="cpu")
    path = tmp_path_factory.mktemp("hcan") / "matcher"
    matcher.save(path)
    return path


def test_explain_prints_shares_and_phrases(call, folder):
    shown = call("explain", folder, "-q", QUERY, "-d", DOCUMENT, "-k", 2)
    assert shown.exit_code == 0, shown.stderr
    for text in (
        "relevance alone, semantics at their mean",
        "Level 0: words",
        "Level 1: phrases of 2 words",
        "best document phrase",
        "1 more, see --json or --out",
        "salience_1",
    ):
        assert text in shown.stdout
    assert "relevance moves the score by" in shown.stdout


def test_explain_writes_all_phrases(call_json, folder, tmp_path):
    out = [tmp_path / "why.json", tmp_path / "why.html"]
    arguments = [part for path in out for part in ("--out", path)]
    found = call_json("explain", folder, "-q", QUERY, "-d", DOCUMENT, *arguments)
    assert found == json.loads(out[0].read_text())
    assert "Which phrases were found" in out[1].read_text()
    words, pairs = found["phrases"]
    assert {match["query"] for match in words["matches"]} == set(QUERY.split())
    assert {match["query"] for match in pairs["matches"]} == {"who wrote", "wrote hamlet", "hamlet"}
    shares = found["shares"]
    assert shares["score"] == found["score"]
    moved = shares["relevance_effect"] + shares["semantic_effect"]
    assert shares["neither"] + moved == pytest.approx(shares["score"])

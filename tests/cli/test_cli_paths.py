"""`matchwork explain` with a matcher that walks along a path, and commands on a regression."""

import json

import pytest
import torch

from matchwork.encode import WordEmbedding
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.text import WordTokenizer

QUERY, DOCUMENT = "A B C D E", "F A C G D"


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    """An untrained Match-SRNN of one unit whose score is its last state."""
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit(["A B C D E F G H I J"])
    entry = MODELS["match-srnn"]
    config = {"interaction": "indicator", "units": 1, "reset": False, "head": "state"}
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=1)
    folder = tmp_path_factory.mktemp("walker") / "matcher"
    Matcher(tokenizer, entry.model(entry.config(config), encoder)).save(folder)
    return folder


def test_explain_prints_the_path_and_writes_it(call, call_json, walker, tmp_path):
    path = tmp_path / "why.json"
    shown = call("explain", walker, "-q", QUERY, "-d", DOCUMENT, "--out", path)
    assert shown.exit_code == 0, shown.stderr
    assert "Matching path" in shown.stdout
    explained = call_json("explain", walker, "-q", QUERY, "-d", DOCUMENT)
    assert explained["paths"] == json.loads(path.read_text())["paths"]
    last = explained["paths"][0]["cells"][-1]
    assert (last["row"], last["column"], last["query"], last["document"]) == (4, 4, "E", "D")


def test_evaluate_measures_a_regression_beside_a_fitted_bm25(call, call_json, walker):
    found = call_json("evaluate", walker, "lcs", "--split", "dev")
    assert found["task"] == "regression"
    ours, bm25 = (found["systems"][name]["measures"] for name in ("match-srnn", "BM25"))
    assert list(ours) == ["MSE", "Exact"]
    assert bm25["MSE"]["value"] < 0.01 < ours["MSE"]["value"]  # a line through the labels
    against = ours["MSE"]["against BM25"]
    assert against["wins"] < against["losses"]
    refused = call("evaluate", walker, "lcs", "--measures", "MSE,AP")
    assert refused.exit_code == 2 and "ranking and regression do not mix" in refused.stderr

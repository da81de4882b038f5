"""`matchwork explain` with ADDAX: who answered whom, and what all answers add up to."""

import pytest

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet was written by William Shakespeare."


@pytest.fixture(scope="module")
def folder(untrained):
    return untrained("addax", hash_dim=12)


def test_explain_prints_the_answers(call, folder):
    shown = call("explain", folder, "-q", QUERY, "-d", DOCUMENT)
    assert shown.exit_code == 0, shown.stderr
    for text in ("Which document word answers each query word", "cosine", "the score."):
        assert text in shown.stdout
    assert "gate" not in shown.stdout  # no sum of gates means anything


def test_explain_writes_gates_and_codes(call_json, folder, tmp_path):
    path = tmp_path / "why.json"
    found = call_json("explain", folder, "-q", QUERY, "-d", DOCUMENT, "--out", path)
    assert path.is_file() and len(found["codes"]["codes"]) == 6
    assert "document_gate" in found["weights"] and "alignment" in found["tables"]

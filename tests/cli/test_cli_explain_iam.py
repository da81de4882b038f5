"""`matchwork explain` with IAM: attention and jump of every answer word."""

import pytest

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet was written by William Shakespeare."


@pytest.fixture(scope="module")
def folder(untrained):
    return untrained("iam", units=4)


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

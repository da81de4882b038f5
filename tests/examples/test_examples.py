"""Every example runs from start to end and says something."""

import runpy
from pathlib import Path

import pytest

from matchwork.models import MODELS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LEFT_BEHIND = {
    "train_on_toy": ["runs/knrm/config.json"],
    "explain_a_pair": ["why.json", "why.html", "why.png"],
    "compare_runs": ["toy.qrels", "plain.run", "stemmed.run"],
    "add_a_model": ["runs/nearest-word/config.json"],
}
SAID = {
    "train_on_toy": "best epoch",
    "rerank": "shakespeare wrote the play hamlet around 1600\n2 ",
    "explain_a_pair": "tables: matching_0, matching_1, matching_2",
    "compare_runs": "p 1.000",
    "add_a_model": "picasso painted guernica",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(MODELS, "_entries", dict(MODELS._entries))  # one example adds a model
    runpy.run_path(str(path), run_name="__main__")
    assert SAID[path.stem] in capsys.readouterr().out
    assert all(Path(name).exists() for name in LEFT_BEHIND.get(path.stem, []))


def test_no_example_is_left_out():
    assert {path.stem for path in EXAMPLES} == set(SAID)

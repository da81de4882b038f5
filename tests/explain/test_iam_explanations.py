"""Attention and context jump of every answer word: highlighted, drawn, and as JSON."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from matchwork.encode import WordEmbedding
from matchwork.explain import (
    Explanation,
    contributions,
    explain,
    picture,
    reading_bars,
    save,
    sum_line,
)
from matchwork.explain.views.reading import reading_values
from matchwork.matcher import Matcher
from matchwork.models import MODELS
from matchwork.report.drawing import to_svg
from matchwork.text import WordTokenizer

QUERY, DOCUMENT = "who wrote hamlet", "Hamlet was written by Shakespeare, says the book"


def matcher(name: str = "iam") -> Matcher:
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit([QUERY, DOCUMENT])
    encoder = WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=8)
    model = MODELS[name].model(MODELS[name].config({"units": 4}), encoder)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10.0)
    return Matcher(tokenizer, model)


def test_values_of_every_word() -> None:
    opened = matcher()
    found = explain(opened, QUERY, DOCUMENT)
    evidence = opened.output(QUERY, DOCUMENT).evidence
    values = reading_values(found)
    assert list(values) == ["document_attention", "document_jump"]
    for name, shown in values.items():
        np.testing.assert_allclose(shown, evidence[name].values[0].numpy(), rtol=1e-6)
        assert len(shown) == 8 and (shown > 0).all()
    assert 0.5 < values["document_attention"].sum() < 1  # the rest is at <EOS>
    title, marked = found.word_values("document")
    assert title == "Attention to each document word"
    assert np.array_equal(marked, values["document_attention"])
    assert found.word_values("query") is None
    assert sum_line(found) == ""
    again = Explanation.from_dict(json.loads(json.dumps(found.to_dict())))
    assert np.array_equal(reading_values(again)["document_jump"], values["document_jump"])


def test_without_the_jump_there_is_none() -> None:
    found = explain(matcher("iam-no-jump"), QUERY, DOCUMENT)
    assert list(reading_values(found)) == ["document_attention"]
    assert "Context jump" not in to_svg(picture(found))


@pytest.mark.parametrize("suffix", ["json", "html", "png", "svg"])
def test_files(suffix: str, tmp_path: Any) -> None:
    path = tmp_path / f"why.{suffix}"
    save(explain(matcher(), QUERY, DOCUMENT), path)
    if suffix == "json":
        weights = json.loads(path.read_text())["weights"]
        assert {"document_attention", "document_jump"} <= weights.keys()
    elif suffix != "png":
        page = path.read_text()
        assert "Attention to each document word" in page
        assert "Context jump from each document word to the next" in page
    if suffix == "html":
        page = path.read_text()
        assert page.count("<mark") == 2 * 8  # attention, then jump
        assert "How the document was read" in page


def test_an_answer_without_words_is_shown_as_that(tmp_path: Any) -> None:
    found = explain(matcher(), QUERY, "")
    assert reading_bars(found) is None
    save(found, tmp_path / "why.html")


def test_long_answers_are_cut_in_a_picture() -> None:
    found = explain(matcher(), QUERY, " ".join(["hamlet"] * 80))
    drawn = to_svg(reading_bars(found, 50))
    assert "first 50 of 80 words" in drawn


def test_jumps_of_a_word_that_stands_twice_are_not_added_up(make_matcher):
    why = explain(make_matcher("iam"), "who wrote hamlet", "the play the man wrote")
    (found,) = [one for one in contributions(why) if one.side == "document"]
    attention, jumps = (why.weights[f"document_{kind}"].values for kind in found.kinds)
    row = found.values[found.words.index("the")]
    assert found.kinds == ("attention", "jump") and found.counts[found.words.index("the")] == 2
    np.testing.assert_allclose(row, [attention[0] + attention[2], (jumps[0] + jumps[2]) / 2])
    np.testing.assert_allclose(found.totals, [attention.sum(), jumps.mean()])
    label, values = found.rows(1)[1]
    others = [place for place in range(5) if why.document_tokens[place].text != found.words[0]]
    assert label == f"({len(others)} more)" and values[1] == pytest.approx(jumps[others].mean())

"""What ADDAX shows of a pair: who answered whom, gates, and codes before and after denoising."""

import json

import numpy as np
import pytest
import torch

import matchwork as mw
from matchwork.errors import DataError
from matchwork.explain import answers, code_strip, picture, save, sum_line, word_gates
from matchwork.explain.codes import MAX_COLUMNS

QUERY, DOCUMENT = "who wrote hamlet", "the play hamlet was written by shakespeare"


@pytest.fixture
def why(make_matcher):
    return mw.explain(make_matcher("addax"), QUERY, DOCUMENT)


def test_every_query_word_has_its_answer(why):
    found = answers(why)
    assert [pair.query for pair in found] == QUERY.split()
    assert {pair.document for pair in found} <= set(DOCUMENT.split())
    assert sum(pair.value for pair in found) == pytest.approx(why.score, rel=1e-5)
    cosines = why.tables["cosine"]
    assert [pair.value for pair in found] == pytest.approx(cosines.max(axis=1).tolist())
    assert f"add up to {why.score:.4f}; the score" in sum_line(why)


def test_an_answer_of_0_is_an_answer():
    tokenizer = mw.WordTokenizer.fit(["alpha beta gamma"])
    encoder = mw.WordEmbedding.from_vocabulary(tokenizer.vocabulary, dim=2)
    vectors = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    encoder.table.data[tokenizer.encode(["alpha beta gamma"])[0]] = vectors
    entry = mw.MODELS["colbert"]
    matcher = mw.Matcher(tokenizer, entry.model(entry.config({}), encoder))
    assert answers(mw.explain(matcher, "alpha", "beta gamma")) == [("alpha", "gamma", 0.0)]


def test_gates_are_no_contributions(why):
    assert list(why.gates("query")) == ["query_gate", "query_values_gate"]
    assert list(why.word_weights("document")) == ["document_answer"]
    for side in ("query", "document"):
        for values in why.gates(side).values():
            assert ((values > 0) & (values < 1)).all()


def test_codes_are_cut_to_what_differs(why):
    codes = why.codes
    num_words = len(DOCUMENT.split())
    width, bits = codes.widths
    assert codes.before.shape == codes.after.shape == (num_words, min(MAX_COLUMNS, width))
    assert codes.codes.shape == (num_words, MAX_COLUMNS) and bits == 300
    assert (np.abs(codes.codes) <= 1).all()


def test_json_there_and_back(why):
    again = mw.explain.Explanation.from_dict(json.loads(json.dumps(why.to_dict())))
    for name in ("before", "codes", "after"):
        assert np.array_equal(getattr(again.codes, name), getattr(why.codes, name))
    assert again.codes.widths == why.codes.widths and again.codes.side == "document"
    with pytest.raises(DataError, match="not an explanation: no entry 'widths'"):
        broken = why.to_dict()
        del broken["codes"]["widths"]
        mw.explain.Explanation.from_dict(broken)


def test_charts_hold_every_word(why):
    strip, gates = code_strip(why).to_dict(), word_gates(why).to_dict()
    assert "64 of 300 bits" in json.dumps(strip)
    assert len(strip["hconcat"]) == 3 and len(gates["vconcat"]) == 2
    assert "shakespeare" in json.dumps(strip) and "shakespeare" in json.dumps(gates)
    short = code_strip(why, max_words=3).to_dict()
    assert "the first 3 of 7 words" in json.dumps(short)
    assert "shakespeare" not in json.dumps(short)


@pytest.mark.parametrize("suffix", [".html", ".png", ".svg", ".json"])
def test_files(why, tmp_path, suffix):
    path = tmp_path / f"why{suffix}"
    save(why, path)
    if suffix == ".html":
        page = path.read_text()
        assert "Which document word answers each query word" in page
        assert "Codes before and after denoising" in page and "gates were open" in page
    assert path.stat().st_size > 1000


def test_models_without_denoiser_or_gates(make_matcher):
    why = mw.explain(make_matcher("addax-attention"), QUERY, DOCUMENT)
    assert why.codes is None and not why.gates("query")
    assert code_strip(why) is None and word_gates(why) is None
    assert len(answers(why)) == 3
    bag = mw.explain(make_matcher("bag"), QUERY, DOCUMENT)
    assert answers(bag) == []


def test_empty_texts(make_matcher):
    matcher = make_matcher("addax")
    for pair in ((QUERY, ""), ("", DOCUMENT), ("", "")):
        why = mw.explain(matcher, *pair)
        least = -len(why.query_tokens) if not pair[1] else 0
        assert answers(why) == [] and why.score == least
        picture(why)

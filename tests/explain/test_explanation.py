import json
from dataclasses import replace

import numpy as np
import pytest
from glacier_pair import DOCUMENT, QUERY

from matchwork.encode import load_transformer
from matchwork.errors import DataError, UnknownNameError
from matchwork.explain import Explanation, WordPair, evidence_title, explain
from matchwork.matcher import Matcher
from matchwork.models import MODELS


@pytest.mark.parametrize("name", list(MODELS))
def test_evidence_is_words_by_words_and_the_score_is_the_matchers(make_matcher, name):
    matcher = make_matcher(name)
    explanation = explain(matcher, QUERY, DOCUMENT)
    assert explanation.score == pytest.approx(matcher.score([(QUERY, DOCUMENT)])[0], abs=1e-6)
    assert explanation.model == name
    assert explanation.tables or explanation.weights
    assert [token.text for token in explanation.query_tokens][:2] == ["how", "are"]
    for side, text in (("query", QUERY), ("document", DOCUMENT)):
        for token in explanation.tokens(side):
            assert text[token.start : token.end] == token.text


@pytest.mark.parametrize("unit", ["subword", "word"])
@pytest.mark.parametrize("name", ["cross-encoder", "iam", "addax", "colbert"])
def test_of_texts_too_long_together_what_was_read(bert_folder, name, unit):
    tokenizer, encoder = load_transformer(bert_folder, unit=unit, cross_encode=True)
    encoder.config = replace(encoder.config, max_positions=20)
    matcher = Matcher(tokenizer, MODELS[name].model(MODELS[name].config({}), encoder))
    pair = QUERY, " ".join([DOCUMENT] * 3)
    explanation = explain(matcher, *pair)
    assert explanation.score == pytest.approx(matcher.score([pair])[0], abs=1e-5)
    whole = [tokenizer.tokens(text) for text in pair]
    found = explanation.query_tokens, explanation.document_tokens
    for read, tokens in zip(found, whole, strict=True):
        assert read and list(read) == tokens[: len(read)]
    assert sum(map(len, found)) < sum(map(len, whole))


def test_shares_of_the_bag_add_up_to_the_score_with_bigrams_too(make_matcher):
    explanation = explain(make_matcher("bag", bigrams=True), QUERY, DOCUMENT)
    assert "glacier caves" in [token.text for token in explanation.query_tokens]
    title, shares = explanation.word_values("query")
    assert title == "What each word adds to the score"
    assert shares.sum() == pytest.approx(explanation.score, rel=1e-4)


def test_iasm_shows_every_layer_and_shares_that_add_up_to_the_distance(make_matcher):
    explanation = explain(make_matcher("iasm-dynamic"), QUERY, DOCUMENT)
    assert list(explanation.tables) == [f"matching_{t}" for t in range(4)]
    shares = [explanation.weights[f"{side}_distance"].values for side in ("query", "document")]
    assert sum(share.sum() for share in shares) == pytest.approx(-explanation.score, rel=1e-4)
    title, values = explanation.word_values("document")
    assert title == "How well each document word is matched"
    assert values is explanation.weights["document_agreement"].values


@pytest.mark.parametrize("pair", [("", ""), ("", DOCUMENT), (QUERY, "")])
@pytest.mark.parametrize("name", ["iasm-dynamic", "bag"])
def test_empty_texts_give_empty_tables(make_matcher, name, pair):
    explanation = explain(make_matcher(name), *pair)
    shape = (len(explanation.query_tokens), len(explanation.document_tokens))
    assert all(table.shape == shape for table in explanation.tables.values())
    assert explanation.strongest() == []
    assert "<em>empty</em>" in explanation._repr_html_()
    assert Explanation.from_dict(explanation.to_dict()).to_dict() == explanation.to_dict()


def test_length_limit_cuts_words_and_tables_alike(make_matcher):
    explanation = explain(make_matcher("bag", max_length=4), QUERY, DOCUMENT)
    assert [token.text for token in explanation.document_tokens][-1] == "glacier"
    assert explanation.table().shape == (5, 4)


def test_probability_only_with_a_calibration(make_matcher):
    assert explain(make_matcher("bag"), QUERY, DOCUMENT).probability is None
    matcher = make_matcher("bag", calibrated=True)
    expected = matcher.probability([(QUERY, DOCUMENT)])[0]
    assert explain(matcher, QUERY, DOCUMENT).probability == pytest.approx(expected, rel=1e-4)


def test_json_round_trip_is_exact(make_matcher):
    explanation = explain(make_matcher("iasm-static", calibrated=True), QUERY, DOCUMENT)
    table = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    again = Explanation.from_dict(table)
    assert again.to_dict() == explanation.to_dict()
    for name, values in explanation.tables.items():
        np.testing.assert_array_equal(again.tables[name], values)


def test_strongest_counts_words_that_meet_twice_once_and_keeps_the_sign(handmade):
    assert handmade.strongest(top_k=3) == [
        WordPair("fox", "fox", 0.9),
        WordPair("red", "and", -0.7),
        WordPair("red", "Fox", 0.2),
    ]
    assert len(handmade.strongest("matching_0", top_k=100)) == 4
    assert handmade.strongest(top_k=0) == []


def test_word_values_prefer_the_models_own_weights(handmade):
    title, values = handmade.word_values("document")
    assert title == "How far each document word stays from the query"
    assert values.tolist() == [0.1, 0.6, 0.2]
    title, values = handmade.word_values("query")
    assert title == "Strongest value of each word: word matching before the first layer"
    assert values.tolist() == [-0.7, 0.9]
    assert replace(handmade, tables={}).word_values("query") is None


def test_unknown_table_suggests_the_nearest(handmade):
    with pytest.raises(UnknownNameError, match="no table named 'matching_1'; did you mean 'mat"):
        handmade.strongest("matching_1")
    with pytest.raises(UnknownNameError, match="'hand' gives no table of word pairs"):
        replace(handmade, tables={}).strongest()


def test_evidence_that_does_not_fit_the_words_is_refused(handmade):
    with pytest.raises(ValueError, match=r"'x' has shape \(1, 3\), but there are 2 query words"):
        replace(handmade, tables={"x": np.ones((1, 3))})
    with pytest.raises(DataError, match="'x' of 'hand' holds values that are not finite"):
        replace(handmade, tables={"x": np.full((2, 3), np.nan)})
    with pytest.raises(DataError, match="'score' of 'hand'"):
        replace(handmade, score=float("nan"))


def test_damaged_json_says_what_is_wrong(handmade):
    table = handmade.to_dict()
    del table["score"]
    with pytest.raises(DataError, match="not an explanation: no entry 'score'"):
        Explanation.from_dict(table)
    table = handmade.to_dict()
    table["tables"]["matching_0"] = [[1.0]]
    with pytest.raises(DataError, match="not an explanation: cannot reshape"):
        Explanation.from_dict(table)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("matching_0", "Word matching before the first layer"),
        ("matching_2", "Word matching after the second layer"),
        ("matching_12", "Word matching after layer 12"),
        ("soft_alignment", "Soft alignment"),
    ],
)
def test_titles_are_for_people(name, title):
    assert evidence_title(name, MODELS["iasm-dynamic"].model.evidence_titles) == title

"""Offsets into the document that point at what made the score."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from glacier_pair import DOCUMENT, QUERY, tokens_of
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError
from matchwork.explain import Explanation, Span, WordWeight, explain
from matchwork.models import MODELS
from matchwork.text import Token


def weighed(document: str, values: list[float], tokens: tuple[Token, ...] | None = None):
    words = tokens_of(document) if tokens is None else tokens
    return Explanation(
        query="q",
        document=document,
        model="hand",
        score=1.0,
        probability=None,
        query_tokens=tokens_of("q"),
        document_tokens=words,
        tables={},
        weights={"document_answer": WordWeight("document", np.array(values))},
    )


def test_neighbours_are_one_span_as_strong_as_the_strongest():
    found = weighed("red fox and fox", [0.5, 1.0, 0.1, 0.8]).spans()
    assert found == [Span(0, 7, 1.0), Span(12, 15, 0.8)]


def test_the_threshold_is_relative_to_the_strongest_word():
    explanation = weighed("a b c", [4.0, 1.0, 2.0])
    assert explanation.spans(1.0) == [Span(0, 1, 1.0)]
    assert explanation.spans(0.5) == [Span(0, 1, 1.0), Span(4, 5, 0.5)]
    assert explanation.spans(0.0) == [Span(0, 5, 1.0)]


def test_the_strongest_spans_are_kept_in_the_order_of_the_text():
    explanation = weighed("a x b x c", [0.6, 0, 0.9, 0, 1.0])
    assert explanation.spans(max_spans=2) == [Span(4, 5, 0.9), Span(8, 9, 1.0)]
    assert explanation.spans(max_spans=0) == []


@pytest.mark.parametrize("values", [[0.0, 0.0], [-1.0, -2.0]])
def test_words_against_the_match_are_in_no_span(values):
    assert weighed("a b", values).spans(0.0) == []


def test_offsets_are_code_points():
    document = "🦊🦊 naïve 狐"
    spans = weighed(document, [0.0, 1.0, 0.0]).spans()
    assert [document[span.start : span.end] for span in spans] == ["naïve"]


def test_pieces_are_put_together_and_punctuation_is_not():
    pieces = (Token("gla", 0, 3), Token("cier", 3, 7), Token(",", 7, 8), Token("ice", 9, 12))
    explanation = weighed("glacier, ice", [0.2, 1.0, 0.0, 0.9], pieces)
    assert [word[:2] for word in explanation.document_words()] == [(0, 7), (7, 8), (9, 12)]
    assert explanation.spans() == [Span(0, 7, 1.0), Span(9, 12, 0.9)]


def test_punctuation_by_itself_is_no_span():
    tokens = tuple(Token("x", place, place + 1) for place in (0, 1, 3, 4, 6, 8))
    document = "a! .? 🦊 +"
    found = weighed(document, [1.0, 0.9, 0.9, 0.9, 0.0, 0.9], tokens).spans(max_spans=2)
    assert [document[span.start : span.end] for span in found] == ["a! .?", "+"]
    apart = weighed(document, [1.0, 0.0, 0.9, 0.9, 0.9, 0.0], tokens).spans()
    assert [document[span.start : span.end] for span in apart] == ["a", ".? 🦊"]
    alone = weighed(document, [1.0, 0.0, 0.9, 0.9, 0.0, 0.0], tokens).spans(max_spans=2)
    assert [document[span.start : span.end] for span in alone] == ["a"]


def test_tokens_that_stand_nowhere_are_no_words():
    tokens = (Token("[CLS]", 0, 0), Token("fox", 0, 3), Token("[SEP]", 3, 3))
    assert weighed("fox", [5.0, 1.0, 5.0], tokens).spans() == [Span(0, 3, 1.0)]


def test_evidence_without_words_is_no_span(handmade):
    assert replace(handmade, tables={}, weights={}).spans() == []


def test_bad_limits_are_named(handmade):
    with pytest.raises(ConfigError, match=r"threshold must lie between 0 and 1, got 1\.5"):
        handmade.spans(1.5)
    with pytest.raises(ConfigError, match="max_spans must not be negative, got -1"):
        handmade.spans(max_spans=-1)


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=12),
    st.floats(0, 1),
    st.none() | st.integers(0, 4),
)
def test_spans_are_sorted_apart_and_within_the_text(values, threshold, max_spans):
    document = " ".join("abcdefghijkl"[: len(values)])
    spans = weighed(document, values).spans(threshold, max_spans)
    assert max_spans is None or len(spans) <= max_spans
    assert all(0 <= s.start < s.end <= len(document) for s in spans)
    assert all(threshold <= s.score <= 1 for s in spans)
    for before, after in pairwise(spans):
        assert document[before.end : after.start].strip()


@pytest.mark.parametrize("bigrams", [False, True])
@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_points_at_whole_words(make_matcher, name, bigrams):
    explanation = explain(make_matcher(name, bigrams=bigrams), QUERY, DOCUMENT)
    places = {edge for word in explanation.document_words() for edge in word[:2]}
    for span in explanation.spans():
        assert {span.start, span.end} <= places
        assert DOCUMENT[span.start : span.end].strip() == DOCUMENT[span.start : span.end]

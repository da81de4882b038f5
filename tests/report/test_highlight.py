import re
from html import escape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.report.highlight import Scale, Segment, marked_text, segments
from matchwork.text import Token


@st.composite
def marked(draw):
    text = draw(st.text(max_size=40))
    place = st.integers(0, len(text))
    places = draw(st.lists(st.tuples(place, place).map(sorted), max_size=8))
    values = draw(
        st.lists(st.floats(-5, 5), min_size=len(places), max_size=len(places)).map(np.array)
    )
    return text, [Token(text[a:b], a, b) for a, b in places], values


@given(marked())
def test_marking_changes_no_letter(sample):
    text, tokens, values = sample
    assert "".join(part.text for part in segments(text, tokens, values)) == text
    html = marked_text(text, tokens, values)
    without_marks = re.sub(r"</?mark[^<>]*>", "", html)
    assert without_marks == escape(text)


def test_overlapping_words_add_up():
    tokens = [Token("ice", 0, 3), Token("cave", 4, 8), Token("ice cave", 0, 8)]
    parts = segments("ice cave!", tokens, np.array([1.0, 2.0, 0.5]))
    assert [part.text for part in parts] == ["ice", " ", "cave", "!"]
    assert [part.value for part in parts] == [1.5, 0.5, 2.5, None]


def test_paint_follows_sign_and_size():
    tokens = [Token("a", 0, 1), Token("b", 2, 3), Token("c", 4, 5)]
    html = marked_text("a b c", tokens, np.array([2.0, -1.0, 0.0]))
    assert re.findall(r"rgba\((\d+),\d+,\d+,([\d.]+)\)", html) == [
        ("47", "0.75"),
        ("217", "0.38"),
        ("47", "0.00"),
    ]


def test_words_that_differ_little_do_not_look_alike():
    """Attention of a hundred words: the least of them is white."""
    scale = Scale.of([Segment("a", 0.20), Segment(" ", None), Segment("b", 0.18)])
    assert scale.opacity(0.18) == 0 and scale.opacity(0.20) == 0.75
    for values in ([0.2, 0.05], [0.2, -0.2], [0.2]):  # from 0, as before
        scale = Scale.of([Segment("a", value) for value in values])
        assert scale.opacity(0.1) == pytest.approx(0.375)
    assert Scale.of([]).opacity(0.0) == 0

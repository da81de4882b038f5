import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_worlds import tokenizer_of

from matchwork.errors import MissingExtraError
from matchwork.studies.iasm import PatternTagger
from matchwork.studies.iasm.tagging import _pattern_parser, covered
from matchwork.text import Token


def counted(text):
    """The tokens of a text that are nouns or verbs."""
    tokens = tokenizer_of([]).tokens(text)
    return [
        t.text for t, yes in zip(tokens, covered(tokens, PatternTagger()(text)), strict=True) if yes
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how are glacier caves formed?", ["are", "glacier", "caves", "formed"]),
        ("The old dog quickly ate a very big bone", ["dog", "ate", "bone"]),
        # One tag covers all the tokens that our tokenizer makes of "p53-mediated" and "U.S.".
        ("p53-mediated apoptosis", ["p53", "mediated", "apoptosis"]),
        ("in the U.S. of 3.5 or so", ["U", "S"]),
        # Several tags fall on "Don't" and "man's"; neither "t" nor "s" is a noun.
        ("Don't touch the man's dog", ["Don", "touch", "man", "dog"]),
        ("she won’t", []),
        ("a  Málaga\n\ncafé", ["Málaga", "café"]),
        ("and/or", []),
        ("", []),
    ],
)
def test_nouns_and_verbs_of_running_text_fall_on_the_right_tokens(text, expected):
    assert counted(text) == expected


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_any_text_can_be_tagged(text):
    spans = PatternTagger()(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


def test_a_token_counts_when_any_part_of_it_is_covered():
    tokens = [Token("ab", 0, 2), Token("cd", 3, 5), Token("e", 6, 7)]
    assert covered(tokens, [(1, 4)]) == [True, True, False]
    assert covered(tokens, [(2, 3), (5, 6)]) == [False] * 3


def test_the_name_says_which_tagger():
    assert PatternTagger().name.startswith("pattern.en of textblob 0.")


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "textblob.en", None)
    _pattern_parser.cache_clear()
    with pytest.raises(MissingExtraError, match=r"nouns and verbs .* 'matchwork\[analyse\]'"):
        PatternTagger()

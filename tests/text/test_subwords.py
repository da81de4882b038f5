"""Word pieces behind our protocol: ids and tokens agree, cuts are counted, nothing is lost."""

import json
import pickle

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tiny_transformers import bert_tokenizer, roberta_tokenizer

from matchwork.errors import ConfigError, DataError
from matchwork.text import SubwordTokenizer, SubwordTokenizerConfig
from matchwork.text.tokenizer import TOKENIZERS

PIECES = {"bert": bert_tokenizer(), "roberta": roberta_tokenizer()}
MADE = {
    (kind, unit): SubwordTokenizer(pieces, SubwordTokenizerConfig(unit=unit))
    for kind, pieces in PIECES.items()
    for unit in ("subword", "word")
}
TEXT = "Unbelievably, he wrote café waves!"
each_kind = pytest.mark.parametrize("kind", list(PIECES))
each_unit = pytest.mark.parametrize("unit", ["subword", "word"])


def plain(kind: str, text: str) -> tokenizers.Encoding:
    pieces = tokenizers.Tokenizer.from_str(PIECES[kind].to_str())
    pieces.no_truncation()
    pieces.no_padding()
    return pieces.encode(text, add_special_tokens=False)


@each_kind
def test_pieces_are_those_of_the_library(kind):
    tokenizer, expected = MADE[kind, "subword"], plain(kind, TEXT)
    assert tokenizer.encode([TEXT])[0].tolist() == expected.ids
    ascii_text = TEXT.replace("é", "e")  # é is two bytes, hence two pieces of a byte-level model
    tokens = tokenizer.tokens(ascii_text)
    assert "".join(token.text for token in tokens) == ascii_text.replace(" ", "")
    assert len(tokens) > 8  # words were taken apart


@each_kind
def test_words_are_whole_and_their_ids_tell_where_they_begin(kind):
    tokenizer = MADE[kind, "word"]
    words = ["Unbelievably", ",", "he", "wrote", "café", "waves", "!"]
    assert [token.text for token in tokenizer.tokens(TEXT)] == words
    ids, expected = tokenizer.encode([TEXT])[0], plain(kind, TEXT)
    assert (ids % tokenizer.vocab_size).tolist() == expected.ids
    begins = np.diff(np.array(expected.word_ids), prepend=-1) > 0
    assert (ids < tokenizer.vocab_size).tolist() == begins.tolist()
    assert begins.sum() == len(words) < len(ids)


def test_the_frame_is_not_among_the_tokens():
    assert MADE["bert", "subword"].special_ids == ((2,), (3,))
    assert MADE["roberta", "word"].special_ids == ((0,), (2,))
    ids = MADE["bert", "subword"].encode(["[CLS] who [SEP]"])[0]
    assert not {2, 3} & set(ids.tolist())  # a text cannot forge special tokens
    tokens = MADE["bert", "word"].tokens("[CLS] who [SEP]")
    assert [token.text for token in tokens] == ["[", "CLS", "]", "who", "[", "SEP", "]"]


@each_unit
@each_kind
@given(text=st.text(max_size=30), limit=st.none() | st.integers(1, 6))
def test_ids_and_tokens_agree(kind, unit, text, limit):
    tokenizer = MADE[kind, unit]
    ids, tokens = tokenizer.encode([text], limit)[0], tokenizer.tokens(text, limit)
    assert len(tokens) == (ids < tokenizer.vocab_size).sum()
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)
        assert token.text == text[token.start : token.end]
    assert limit is None or len(tokens) <= limit


@each_unit
def test_half_an_emoji_and_decomposed_accents(unit):
    tokenizer = MADE["bert", unit]
    assert tokenizer.encode(["cut \ud83d"]).lengths[0] >= 2
    text = "cafe\u0301 \u4f60\u597d"
    assert "".join(token.text for token in tokenizer.tokens(text)) == text.replace(" ", "")


def test_a_limit_counts_tokens_and_cuts_are_counted_in_pieces():
    text = "unbelievably unbelievably unbelievably"
    whole = MADE["bert", "word"].encode([text])
    per_word = len(whole.flat) // 3
    cut = MADE["bert", "word"].encode([text, "!"], max_length=2)
    assert cut.lengths.tolist() == [2 * per_word, 1]
    assert (cut.num_cut_texts, cut.num_cut_tokens) == (1, per_word)
    cut = MADE["bert", "subword"].encode([text, "!"], max_length=2)
    assert cut.lengths.tolist() == [2, 1]
    assert (cut.num_cut_texts, cut.num_cut_tokens) == (1, 3 * per_word - 2)
    assert (whole.num_cut_texts, whole.num_cut_tokens) == (0, 0)


@each_unit
def test_the_transformer_is_never_given_more_than_it_can_read(unit):
    config = SubwordTokenizerConfig(unit=unit, max_positions=7)
    tokenizer = SubwordTokenizer(PIECES["bert"], config)
    table = tokenizer.encode(["unbelievably quickly", "he"], max_length=6)
    assert table.lengths[0] == 5  # and [CLS] and [SEP]
    assert table.num_cut_texts == 1 and table.num_cut_tokens > 0
    tokens = tokenizer.tokens("unbelievably quickly")
    assert tokens[0].text == ("unbelievably"[: tokens[0].end])
    assert len(tokens) == (table[0] < tokenizer.vocab_size).sum()


@each_unit
@each_kind
def test_json_and_pickle_make_an_equal_tokenizer(kind, unit):
    tokenizer = MADE[kind, unit]
    table = json.loads(json.dumps(tokenizer.to_dict()))
    for again in (
        TOKENIZERS[table["kind"]].from_dict(table),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert again.config == tokenizer.config and again.special_ids == tokenizer.special_ids
        assert again.vocab_size == tokenizer.vocab_size
        assert again.encode([TEXT])[0].tolist() == tokenizer.encode([TEXT])[0].tolist()
        assert again.tokens(TEXT) == tokenizer.tokens(TEXT)


def test_making_one_leaves_the_given_tokenizer_alone():
    SubwordTokenizer(PIECES["bert"])
    assert PIECES["bert"].truncation["max_length"] == 8


def test_no_text_at_all():
    table = MADE["bert", "word"].encode(["", " \t\n"])
    assert table.lengths.tolist() == [0, 0] and MADE["bert", "word"].tokens("  ") == []


def test_what_cannot_be_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"more than the 2 special tokens, got 2"):
        SubwordTokenizer(PIECES["bert"], SubwordTokenizerConfig(max_positions=2))
    bare = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    assert SubwordTokenizer(bare).encode(["ab"])[0].tolist() == [0]
    with pytest.raises(ConfigError, match=r'not split text into words; use unit = "subword"'):
        SubwordTokenizer(bare, SubwordTokenizerConfig(unit="word"))
    with pytest.raises(DataError, match=r"gone\.json: cannot read the tokenizer"):
        SubwordTokenizer.read(tmp_path / "gone.json")
    (tmp_path / "broken.json").write_text('{"model": 3}')
    with pytest.raises(DataError, match=r"broken\.json: not a tokenizer of the tokenizers lib"):
        SubwordTokenizer.read(tmp_path / "broken.json")

